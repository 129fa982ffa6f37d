import type * as z from 'zod/mini'
import {
  configPatchInput,
  environmentReply,
  modulePatchInput,
  moduleReply,
  moduleSummaryReply,
} from './config-schemas.js'
import {
  accessGrant,
  assertionInput,
  authenticatedReply,
  mfaEnrollmentRequired,
  mfaRequired,
  mobileAuthenticatedReply,
  passwordChangeRequired,
  publicUser,
} from './schemas.js'
import { me } from './self-service-operations.js'
import { serviceAccount, serviceCredential } from './service-accounts-operations.js'
import { passkey, passkeyAssertion } from './webauthn-operations.js'

/**
 * What has a name wherever the operations are described, so that it is described once. Each is either
 * sent or received, never both.
 */
export const namedSchemas: Readonly<Record<string, z.ZodMiniType>> = {
  User: publicUser,
  AccessGrant: accessGrant,
  Authenticated: authenticatedReply,
  MobileAuthenticated: mobileAuthenticatedReply,
  PasswordChangeRequired: passwordChangeRequired,
  MfaRequired: mfaRequired,
  MfaEnrollmentRequired: mfaEnrollmentRequired,
  Assertion: assertionInput,
  PasskeyAssertion: passkeyAssertion,
  Passkey: passkey,
  Account: me,
  ServiceAccount: serviceAccount,
  ServiceCredential: serviceCredential,
  ConfigPatch: configPatchInput,
  ModulePatch: modulePatchInput,
  Module: moduleReply,
  ModuleSummary: moduleSummaryReply,
  Environment: environmentReply,
}
