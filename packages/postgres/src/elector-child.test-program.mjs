// A process with an elector, for tests that kill, stop or cut processes off. Arguments: one JSON object. Writes JSON lines.
//
// `{at, event, ...}`: `at` is the machine's monotonic time in nanoseconds, which all processes of it share. Of a term it writes `lead`, with the
// token, when it is first seen leading, and `unlead` when it is first seen not leading, with `believedUntil`: the last instant
// at which it was seen leading. A sampler looks every few milliseconds, so a stopped process is one that does not look.
import { PostgresLeaderElector, PostgresLockSession } from '../dist/index.js'

const { identity, connection, election = 'e', mode = 'campaign', ...options } = JSON.parse(process.argv[2])
const write = (event, fields = {}) =>
  process.stdout.write(`${JSON.stringify({ at: String(process.hrtime.bigint()), identity, event, ...fields })}\n`)
const text = (error) => (error instanceof Error ? `${error.name} ${error.code ?? ''} ${error.message}` : String(error))

process.on('unhandledRejection', (error) => write('unhandledRejection', { text: text(error) }))
process.on('uncaughtException', (error) => write('uncaughtException', { text: text(error) }))
process.on('warning', (warning) => write('warning', { text: text(warning) }))

const logger = {
  debug: () => {},
  info: (_fields, message) => write('log', { level: 'info', text: message }),
  warn: (_fields, message) => write('log', { level: 'warn', text: message }),
  error: (_fields, message) => write('log', { level: 'error', text: message }),
}

const elector = new PostgresLeaderElector({ identity, election, connection, logger, ...options })
elector.onLeaderChange((isLeader) => write('told', { isLeader }))

let token = null
let seenAt = 0n
function look() {
  const now = process.hrtime.bigint()
  // Asked once: trust may run out between two questions.
  const held = elector.fencingToken
  const present = held === null ? null : String(held)
  if (present !== token) {
    if (token !== null) write('unlead', { token, believedUntil: String(seenAt) })
    if (present !== null) write('lead', { token: present })
    token = present
  }
  if (present !== null) seenAt = now
}

async function keepCampaigning() {
  for (;;) {
    await elector.campaign()
    look()
    await new Promise((resolve) => {
      const onChange = (isLeader) => {
        if (isLeader) return
        elector.removeLeaderChangeCallback(onChange)
        resolve()
      }
      elector.onLeaderChange(onChange)
      if (!elector.isLeader) onChange(false)
    })
    look()
  }
}

if (mode === 'import') {
  write('done', { has: typeof PostgresLockSession })
} else if (mode === 'once') {
  write('tried', { isLeader: await elector.tryAcquire() })
  await elector.close()
  write('closed')
} else {
  const sampler = mode === 'bare' ? undefined : setInterval(look, 5)
  const campaigning = keepCampaigning().catch((error) => error.code === 'closed' || write('campaign ended', { text: text(error) }))
  write('started')
  process.stdin.setEncoding('utf8')
  if (mode === 'bare') {
    process.stdin.destroy()
  } else {
    for await (const line of process.stdin) {
      if (line.includes('release')) await elector.release().catch((error) => write('release failed', { text: text(error) }))
      if (line.includes('close')) break
    }
    await elector.close()
    await campaigning
    clearInterval(sampler)
    look()
    process.stdin.destroy()
    write('closed')
  }
}
