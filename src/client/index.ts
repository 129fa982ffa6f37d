/** The client for browsers: a session in one tab and among several, and typed calls. */
export type * from './calls.js'
export type {
  ClientChannel,
  ClientEnvironment,
  ClientLocks,
  ClientStorage,
} from './client-environment.js'
export {
  type AuthClient,
  type CallArguments,
  type CallOptions,
  type ClientOptions,
  createClient,
  type InputOf,
  type ReplyOf,
} from './create-client.js'
export {
  isPosternError,
  type PosternAbort,
  type PosternError,
  type PosternNetworkFailure,
  type PosternProblem,
} from './postern-error.js'
export type { PasswordViolation, ProblemCode } from './problem-codes.js'
export type { SessionState, SessionUser } from './session-state.js'
export type { StepUpChallenge } from './with-session.js'
