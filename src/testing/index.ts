export {
  type ConformanceOptions,
  conformance,
  type ListedCase,
  type OpenedBackend,
} from './conformance.js'
export { counterCases } from './counter-cases.js'
export { denylistCases } from './denylist-cases.js'
export { type FakeClock, fakeClock } from './fake-clock.js'
export type { Fault } from './faults/fault-player.js'
export {
  type FaultyBackend,
  type FaultyBackendOptions,
  faultyBackend,
} from './faults/faulty-backend.js'
export type { InterceptOptions } from './faults/intercept-backend.js'
export type { ExploredCase, InterleavingOptions } from './interleavings/interleaving-cases.js'
export { leaseCases } from './lease-cases.js'
export { type LossyBackend, lostAnswerCases } from './lost-answer-cases.js'
export type { ConformanceCase, MakeBackend, RunningTest } from './shared/conformance-case.js'
export type { Driver } from './shared/driver-control.js'
export { storeCases } from './store-cases.js'
