// Made by `npm run generate` from the operation table.

/** What an app keeps and sends with these calls, where a browser has cookies. */
export const keptInputs: Readonly<Record<string, readonly string[]>> = {
  'POST /register': ['recognitionId', 'registrationKey'],
  'POST /email/verify': ['registrationKey'],
  'POST /logout': ['recognitionId'],
  'POST /mobile/login': ['recognitionId', 'deviceToken', 'registrationKey', 'signInKey'],
  'POST /mfa/totp/confirm': ['recognitionId'],
  'POST /login/mfa': ['recognitionId'],
  'POST /mobile/oauth/exchange': ['recognitionId', 'deviceToken', 'registrationKey'],
  'POST /webauthn/registration/verify': ['recognitionId'],
  'POST /webauthn/login/verify': ['recognitionId'],
  'POST /login/code': ['recognitionId'],
  'POST /login/code/verify': ['recognitionId', 'deviceToken', 'codeKey'],
}
