import { authenticationOperations } from './authentication-operations.js'
import { deviceOperations } from './devices-operations.js'
import { mailedCodeOperations } from './mailed-code-operations.js'
import { mfaOperations } from './mfa-operations.js'
import { mobileOperations } from './mobile-operations.js'
import { moduleConfigurationOperations } from './module-configuration-operations.js'
import { oauthLinkOperations } from './oauth-link-operations.js'
import { oauthOperations } from './oauth-operations.js'
import type { Operation } from './operation.js'
import { registrationOperations } from './registration-operations.js'
import { selfServiceOperations } from './self-service-operations.js'
import { serviceAccountOperations } from './service-accounts-operations.js'
import { userMailOperations } from './user-mails-operations.js'
import { webauthnOperations } from './webauthn-operations.js'

/** The operation table: routing, parsing, guards, limits and tests all read this. */
export const operations: readonly Operation[] = [
  ...registrationOperations,
  ...authenticationOperations,
  ...mobileOperations,
  ...selfServiceOperations,
  ...mfaOperations,
  ...oauthOperations,
  ...oauthLinkOperations,
  ...userMailOperations,
  ...deviceOperations,
  ...serviceAccountOperations,
  ...webauthnOperations,
  ...moduleConfigurationOperations,
  ...mailedCodeOperations,
]
