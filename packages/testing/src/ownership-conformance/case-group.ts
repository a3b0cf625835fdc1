import type { CaseGroup as AnyCaseGroup } from '../conformance/case-definition.js'
import type { OwnershipStage } from './ownership-stage.js'
import type { OwnershipPower } from './ownership-world.js'

export type CaseGroup = AnyCaseGroup<OwnershipStage, OwnershipPower>
