import type { CaseGroup as AnyCaseGroup } from '../conformance/case-definition.js'
import type { LeaderElectorPower } from './leader-elector-world.js'
import type { Stage } from './stage.js'

export type CaseGroup = AnyCaseGroup<Stage, LeaderElectorPower>
