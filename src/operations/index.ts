import {
  forgotPassword,
  getJwks,
  getSession,
  login,
  logout,
  refreshCookie,
  register,
  resendEmailVerification,
  resetPassword,
  verifyEmail,
} from './authentication.js'
import { deviceOperations } from './devices.js'
import { mfaOperations } from './mfa.js'
import { mobileLogin, refresh } from './mobile.js'
import {
  getEnvironment,
  getModule,
  listEnvironmentRevisions,
  listModules,
  setActiveEnvironment,
  updateEnvironment,
  updateModule,
} from './module-configuration.js'
import { oauthOperations } from './oauth.js'
import type { Operation } from './operation.js'
import { selfServiceOperations } from './self-service.js'
import { serviceAccountOperations } from './service-accounts.js'
import { userMailOperations } from './user-mails.js'
import { webauthnOperations } from './webauthn.js'

/** The operation table: routing, parsing, guards, limits and tests all read this. */
export const operations: readonly Operation[] = [
  register,
  verifyEmail,
  resendEmailVerification,
  login,
  logout,
  refreshCookie,
  getSession,
  forgotPassword,
  resetPassword,
  getJwks,
  mobileLogin,
  refresh,
  ...selfServiceOperations,
  ...mfaOperations,
  ...oauthOperations,
  ...userMailOperations,
  ...deviceOperations,
  ...serviceAccountOperations,
  ...webauthnOperations,
  listModules,
  getModule,
  updateModule,
  getEnvironment,
  updateEnvironment,
  setActiveEnvironment,
  listEnvironmentRevisions,
]
