import type { CaseGroup as AnyCaseGroup } from '../conformance/case-definition.js'
import type { TransportStage } from './transport-stage.js'
import type { TransportPower } from './transport-world.js'

export type CaseGroup = AnyCaseGroup<TransportStage, TransportPower>
