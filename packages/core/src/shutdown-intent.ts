/** Why an instance leaves. The values are the wire format of the reference library. */
export const ShutdownIntent = {
  /** An ordinary stop, such as a rolling update or a scale-down. */
  Graceful: 'graceful',
  /** The machine is taken away (spot or preemptible), usually with a notice of seconds. */
  Preemption: 'preemption',
  /** The instance found itself unhealthy; its work may need a new owner at once. */
  HealthFailure: 'health_failure',
  /** A planned maintenance window. */
  Maintenance: 'maintenance',
} as const

export type ShutdownIntent = (typeof ShutdownIntent)[keyof typeof ShutdownIntent]
