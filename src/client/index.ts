/** The client for browsers: a session in one tab and among several, and typed calls. */

export type {
  AuthClient,
  CallArguments,
  CallOptions,
  InputOf,
  ReplyOf,
  SharedOptions,
} from './auth-client.js'
export type * from './calls.js'
export type {
  ClientChannel,
  ClientEnvironment,
  ClientLocks,
  ClientStorage,
} from './client-environment.js'
export { type ClientOptions, createClient, type PageClient } from './create-client.js'
export {
  isPosternError,
  type PosternAbort,
  type PosternError,
  type PosternNetworkFailure,
  type PosternProblem,
  type PosternStorageFailure,
} from './postern-error.js'
export type { PasswordViolation, ProblemCode } from './problem-codes.js'
export type { SessionState, SessionUser } from './session-state.js'
export type { StepUpChallenge } from './with-session.js'
