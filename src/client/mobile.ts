/** The client for apps, which keep their refresh token themselves. */
export type {
  AuthClient,
  CallArguments,
  CallOptions,
  InputOf,
  ReplyOf,
  SharedOptions,
} from './auth-client.js'
export type * from './calls.js'
export {
  createMobileClient,
  type MobileClient,
  type MobileClientOptions,
  type MobileEnvironment,
} from './create-mobile-client.js'
export type { TokenStorage } from './kept-tokens.js'
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
