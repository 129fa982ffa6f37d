import type { Fault } from '../../../src/testing/faults/fault-player.js'

export { type FaultyBackend, faultyBackend } from '../../../src/testing/faults/faulty-backend.js'
export {
  type Around as Call,
  interceptBackend as withCall,
} from '../../../src/testing/faults/intercept-backend.js'

/** The two that say whether the call took effect. */
export type FaultMode = Extract<Fault, 'before' | 'after'>
