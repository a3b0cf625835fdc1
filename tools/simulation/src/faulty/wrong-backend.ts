import { type CreateBackend, lockServerBackend, type SimulatedAdapters, type SimulatedPlace } from '@es/coordination-testing'

/** The built-in backend with adapters that are wrong. `connect` makes the right ones. */
export function wrongBackend(
  connectWrongly: (place: SimulatedPlace, connect: (place: SimulatedPlace) => SimulatedAdapters) => SimulatedAdapters,
): CreateBackend {
  const createBackend = lockServerBackend()
  return (options) => {
    const backend = createBackend(options)
    return Object.assign(Object.create(backend), { connect: (place: SimulatedPlace) => connectWrongly(place, backend.connect) })
  }
}
