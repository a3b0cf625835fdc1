import fc from 'fast-check'

/**
 * How a fuzz test runs: `runs` inputs, the same ones every time. `FUZZ_SEED` makes them others and `FUZZ_FACTOR` more (see CONTRIBUTING.md).
 * fast-check prints the seed and the smallest input of a failure.
 */
export function fuzzing(runs: number): { readonly seed: number; readonly numRuns: number } {
  const { FUZZ_SEED = '1', FUZZ_FACTOR = '1' } = process.env
  return { seed: Number(FUZZ_SEED), numRuns: Math.ceil(runs * Number(FUZZ_FACTOR)) }
}

const instant = '2026-03-01T12:00:00.000+00:00'

const dict = (required: Record<string, unknown>, optional: Record<string, unknown>): fc.Arbitrary<Record<string, unknown>> =>
  fc.subarray(Object.keys(optional)).map((keys) => ({ ...required, ...Object.fromEntries(keys.map((key) => [key, optional[key]])) }))

/** Valid messages on the wire, by what they are. */
export const validDicts = {
  heartbeat: dict(
    { instance_id: 'w', timestamp: instant },
    {
      ...{ subscriptions: ['a', 'b', 'a'], in_flight_count: 1, is_leader: true, load_factor: 0.5 },
      ...{ incarnation: 'i', sequence: 7, capacity: 3, declined: ['c'] },
    },
  ),
  shutdown: dict(
    { instance_id: 'w', intent: 'graceful', initiated_at: instant, expected_completion_at: instant },
    { subscriptions: ['a'], in_flight_count: 0, metadata: { region: { zone: [1, null, 'x'] } }, incarnation: 'i', sequence: 8 },
  ),
  assignment: dict(
    { target_instance_id: 'w', subscriptions: ['a'], source_instance_id: 'l', assigned_at: instant },
    { priority: -1, epoch: '18446744073709551615', revision: 3 },
  ),
}

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 0
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\ud800',
    '\udc00x',
    'é'.repeat(1024),
    'x'.repeat(1024),
    'x'.repeat(1025),
    'NaN',
    'Infinity',
    '1'.repeat(400),
  ),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'graceful', 'health_failure', 'GRACEFUL'),
  fc.constantFrom(
    '2026-02-30T12:00:00Z',
    '2026-03-01T12:00:00',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2026-03-01T24:00:00Z',
  ),
)
const number = fc.oneof(fc.double(), fc.constantFrom(-0, -1, 0.5, 2 ** 53, -(2 ** 53), Number.MAX_VALUE, Number.MIN_VALUE, 1e21))

/** Values that JSON can hold, and that a field may choke on. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(text, number, fc.boolean(), fc.constant(null)) },
  { weight: 2, arbitrary: fc.array(fc.oneof(text, number), { maxLength: 5 }) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 1,
    arbitrary: fc
      .nat(40)
      .map((depth) => nested(depth, depth % 2 ? (inner) => [inner] : (inner) => JSON.parse(`{"__proto__":${JSON.stringify(inner)}}`))),
  },
)
/** Dear to make, so rare. */
const largeValue = fc.constantFrom<unknown>(
  Array.from({ length: 10_000 }, (_, index) => `s${index}`),
  Array.from({ length: 10_001 }, (_, index) => `s${index}`),
  Array.from({ length: 10_001 }, () => ''),
  'x'.repeat(70_000),
  { big: 'x'.repeat(65_530) },
)

/** A change of a message: some key has another value, another name, or is gone. */
const change = fc.record({
  key: fc.nat(12),
  act: fc.constantFrom('set', 'set', 'set', 'delete', 'rename', 'add'),
  name: text,
  value: fc.oneof({ weight: 400, arbitrary: value }, { weight: 1, arbitrary: largeValue }),
})

/** Nearly a message: a valid one with a few changes. */
export const nearlyDict = (valid: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(valid, fc.array(change, { maxLength: 3 })).map(([dictionary, changes]) => {
    const entries = Object.entries(dictionary)
    for (const { key, act, name, value: replacement } of changes) {
      const at = key % Math.max(entries.length, 1)
      const entry = entries[at]
      if (act === 'add' || entry === undefined) entries.push([name, replacement])
      else if (act === 'set') entries[at] = [entry[0], replacement]
      else if (act === 'rename') entries[at] = [name, entry[1]]
      else entries.splice(at, 1)
    }
    // Not by assignment, which would set the prototype for a key `__proto__`.
    return Object.fromEntries(entries)
  })

const FRAGMENTS = [
  'NaN',
  '-Infinity',
  '1e999',
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  '\\u0000',
  '\\ud800',
  '\ud83d',
  '\ufeff',
  '\\',
  '\n',
  '"__proto__":{"x":1},',
]

/** A change of a text: cut, some of it replaced, doubled, or buried. */
const textChange = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  act: fc.constantFrom('truncate', 'flip', 'insert', 'double', 'bury', 'key twice'),
  bit: fc.nat(15),
  fragment: fc.constantFrom(...FRAGMENTS),
  depth: fc.oneof({ weight: 50, arbitrary: fc.nat(60) }, { weight: 1, arbitrary: fc.constant(3000) }),
})

/** Nearly the text of a message. */
export const nearlyText = (nearly: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<string> =>
  fc.tuple(nearly, fc.array(textChange, { maxLength: 2 })).map(([dictionary, changes]) => {
    let json = JSON.stringify(dictionary)
    for (const { at, act, bit, fragment, depth } of changes) {
      const position = Math.floor(at * json.length)
      const [head, tail] = [json.slice(0, position), json.slice(position)]
      if (act === 'truncate') json = head
      else if (act === 'flip') json = head + String.fromCharCode((tail.charCodeAt(0) || 0) ^ (1 << bit)) + tail.slice(1)
      else if (act === 'insert') json = head + fragment + tail
      else if (act === 'double') json = head + tail.slice(0, 30) + tail
      else if (act === 'key twice') json = json.replace('{', `{"instance_id":"other","subscriptions":[${fragment.length}],`)
      else
        json = `{"instance_id":${'['.repeat(depth)}${']'.repeat(depth)},"metadata":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)},"rest":${json}}`
    }
    return json
  })

/** The own keys of the prototypes that hostile input is after. */
export function prototypes(): string {
  return [Object.prototype, Array.prototype, String.prototype, Function.prototype, Map.prototype, Error.prototype]
    .map((prototype) => Reflect.ownKeys(prototype).length)
    .join()
}

/** `value` frozen all the way down, so that whoever changes it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const key of Reflect.ownKeys(value)) deepFreeze(Reflect.get(value, key))
  return value
}

/** What somebody may give as an option. */
export const anyOption: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[undefined, null, true, false, 0, -0, 1, -1, 0.5, 15, 1e6, 1e300, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 5n, -1n, 2n ** 64n],
    ...['', 'x', '15', '\ud800', '__proto__', 'x'.repeat(1024), 'x'.repeat(1_000_000), Symbol('s'), new Date(0), new Date(Number.NaN)],
    ...[[], {}, [null], [''], ['x', 'x'], new Map(), new Set(['x']), Object.create(null), () => 1, class {}, new Uint8Array(3), /x/],
  ),
  fc.anything({ maxDepth: 2, maxKeys: 3, withBigInt: true, withNullPrototype: true, withMap: true, withDate: true }),
)
