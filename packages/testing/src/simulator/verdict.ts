import type { Cluster } from './cluster.js'

/** Why a cluster that was left in peace is not whole yet, in words; `null` when it is. */
export function whyNotWhole(cluster: Cluster, subscriptions: readonly string[]): string | null {
  const lives = [...cluster.present.values()]
  if (cluster.isInMotion) return 'somebody is leaving, or about to start'
  const leaders = cluster.leaders.map(({ instanceId }) => instanceId)
  if (leaders.length !== 1) return leaders.length === 0 ? 'nobody leads' : `${leaders.join(' and ')} lead`
  for (const subscription of subscriptions) {
    const owners = lives.filter(({ running }) => running.has(subscription)).map(({ instanceId }) => instanceId)
    if (owners.length !== 1) return `${subscription} runs ${owners.length === 0 ? 'nowhere' : `in ${owners.join(' and ')}`}`
  }
  const sizes = lives.map(({ running }) => running.size)
  if (Math.max(...sizes) - Math.min(...sizes) > 1) {
    return `the work is not balanced: ${lives.map(({ instanceId, running }) => `${instanceId} runs ${running.size}`).join(', ')}`
  }
  for (const { instanceId, instance } of lives) {
    const [problem] = instance.problems?.() ?? []
    if (problem !== undefined) return `${instanceId} says: ${problem}`
  }
  return null
}
