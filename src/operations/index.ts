import { authenticationOperations } from './authentication.js'
import { deviceOperations } from './devices.js'
import { mfaOperations } from './mfa.js'
import { mobileOperations } from './mobile.js'
import { moduleConfigurationOperations } from './module-configuration.js'
import { oauthOperations } from './oauth.js'
import type { Operation } from './operation.js'
import { selfServiceOperations } from './self-service.js'
import { serviceAccountOperations } from './service-accounts.js'
import { userMailOperations } from './user-mails.js'
import { webauthnOperations } from './webauthn.js'

/** The operation table: routing, parsing, guards, limits and tests all read this. */
export const operations: readonly Operation[] = [
  ...authenticationOperations,
  ...mobileOperations,
  ...selfServiceOperations,
  ...mfaOperations,
  ...oauthOperations,
  ...userMailOperations,
  ...deviceOperations,
  ...serviceAccountOperations,
  ...webauthnOperations,
  ...moduleConfigurationOperations,
]
