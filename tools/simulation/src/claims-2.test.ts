import { claimsSurvive } from './exploration.test.harness.js'

claimsSurvive(2)
