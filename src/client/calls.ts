// Made by `npm run generate` from the operation table.

import type {
  AuthenticationCalls,
  OperatorAuthenticationCalls,
} from './calls/authentication-calls.js'
import type { OperatorConfigurationCalls } from './calls/configuration-calls.js'
import type { DeviceCalls } from './calls/device-calls.js'
import type { MfaCalls, OperatorMfaCalls } from './calls/mfa-calls.js'
import type { MobileCalls } from './calls/mobile-calls.js'
import type { PasskeyCalls } from './calls/passkey-calls.js'
import type { OperatorSelfServiceCalls, SelfServiceCalls } from './calls/self-service-calls.js'
import type { OperatorServiceAccountCalls } from './calls/service-account-calls.js'

export type * from './calls/shapes.js'

/** What pages of the client surface may call. */
export interface ClientCalls
  extends AuthenticationCalls,
    SelfServiceCalls,
    MfaCalls,
    DeviceCalls,
    PasskeyCalls {}

/** What pages of the operator surface may call. */
export interface OperatorCalls
  extends AuthenticationCalls,
    SelfServiceCalls,
    MfaCalls,
    DeviceCalls,
    PasskeyCalls,
    OperatorAuthenticationCalls,
    OperatorSelfServiceCalls,
    OperatorMfaCalls,
    OperatorServiceAccountCalls,
    OperatorConfigurationCalls {}

/** The operations by surface. */
export interface Calls {
  readonly client: ClientCalls
  readonly operator: OperatorCalls
}

/** What apps call, by surface: logins give the refresh token in the body, and not as a cookie. */
export interface AppCalls {
  readonly client: Omit<ClientCalls, 'POST /login'> & MobileCalls
  readonly operator: Omit<OperatorCalls, 'POST /login'> & MobileCalls
}
