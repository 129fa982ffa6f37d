import type { JsonSchema } from './types.js'

const oneLine =
  'Well-formed text, made one line: without control characters, characters that change its direction, and blanks around it.'
const opaque = 'As it was given: well-formed text without NUL.'
const stored = 'Well-formed text without NUL.'
const emailRule =
  'An e-mail address with ASCII characters before the @, and a dotted domain of any script, which is kept as its A-label (UTS 46): after blanks around it are left out, 254 characters at most, of them 64 at most before the @. Upper case makes no other address.'
const currentRule = 'The password that the account has, character by character.'
const newRule =
  'A new password of 1,024 bytes at most, as UTF-8. Which others are refused is a matter of settings; `passwordMinLength` of `GET …/options` is the least length.'
const codeRule =
  'Six digits of the authenticator app, or, where `method` is `backupCode`, a backup code of ten characters in any case. Blanks and dashes do not count, digits may be of any script, and in a backup code O is read as 0, I and L as 1.'
const webauthnRule = 'As the browser gave it (`PublicKeyCredential.toJSON`), in base64url.'
const idRule = 'An id as a reply of the API has it.'
const cookieRule = 'As a reply set it, and nothing else.'
const flowRule = 'As the start of the flow set it, and nothing else.'

/**
 * What a text has to be, beyond what JSON Schema says, by the name of its member or parameter. Where one name stands for
 * several things, the id of the operation comes before it; for parameters, the place does.
 */
const rules: Readonly<Record<string, string>> = {
  email: emailRule,
  newEmail: emailRule,
  password: currentRule,
  currentPassword: currentRule,
  newPassword: newRule,
  'register password': newRule,
  name: oneLine,
  deviceName: oneLine,
  acceptedTermsVersion: `The version of the terms that the person accepted, as \`termsVersion\` of \`GET …/options\` has it. ${stored}`,
  login_hint: `Whom the page expects, passed on to the provider as it is. ${stored}`,
  hd: `The Workspace domain to offer first, passed on to the provider as it is. ${stored}`,
  prompt: `\`select_account\`, \`login\` or \`consent\`, passed on to the provider; any other is not. ${stored}`,
  token: `The token of a mailed link. ${opaque}`,
  registrationKey: `The key that the registration gave. ${opaque}`,
  refreshToken: `The refresh token. ${opaque} One of more than 8,000 characters is none.`,
  deviceToken: `The token of a trusted device. ${opaque}`,
  mfaToken: `The ticket of a login that is not complete. ${opaque}`,
  recognitionId: `What the last login of the app gave, by which it is known again. ${opaque}`,
  signInKey: `What a reset of the password gave the app, less than an hour ago. ${opaque}`,
  challengeId: `The id of the challenge, as its options had it. ${opaque}`,
  code: codeRule,
  'confirmTotp code': 'Six digits of the authenticator app that is being enrolled.',
  'loginCodeVerify code':
    'The eight digits that were mailed, of any script. Blanks and dashes do not count.',
  codeKey: `What an app got when it asked for the code. ${opaque}`,
  'exchangeMobileOauth code': `The code that came back to the app. ${opaque}`,
  codeVerifier: 'The verifier that `codeChallenge` was made of (RFC 7636, 4.1).',
  codeChallenge: 'The SHA-256 of the verifier in base64url (RFC 7636, 4.2): 43 characters.',
  redirectUri:
    'One of the setting `oauthRedirectTargets`, for this surface and kind of flow, character by character.',
  appState: `Comes back to the app as \`state\`. ${stored}`,
  clientDataJSON: webauthnRule,
  authenticatorData: webauthnRule,
  attestationObject: webauthnRule,
  signature: webauthnRule,
  userHandle: webauthnRule,
  rawId: webauthnRule,
  id: webauthnRule,
  transports: 'As the browser gave them, such as `internal` or `usb`.',
  config:
    'The new text of a key of the module, in the form that its field asks for. An empty one stands for the default, or, where the field says `emptyIsValue`, for a value of its own.',
  field: 'The key of a record list of the module.',
  create:
    'The slug of a new element: lower-case letters and digits in words joined by single hyphens, 63 characters at most.',
  remove: 'The slug of an element that is there.',
  environment: 'The name of an environment of the module.',
  grantType: '`client_credentials`; any other is refused.',
  clientId: 'The id of a credential, as it was issued.',
  clientSecret: 'The secret of the credential, as it was issued.',
  grant_type: '`client_credentials`; any other is refused.',
  scope: 'Not sent, or empty: there are no scopes.',
  client_id: 'The id of a credential, as it was issued, where no `Authorization` header has it.',
  client_secret: 'The secret of the credential, where no `Authorization` header has it.',
  client_assertion: 'Not sent: there is no such way to authenticate.',
  limit: 'A whole number from 1 to 100.',
  cursor: 'The `nextCursor` of the page before.',
  parameters: 'What the provider sends (RFC 6749, 4.1.2).',
  '*': 'What the provider sends (RFC 6749, 4.1.2).',
  'path provider': '`google`, `microsoft`, `apple` or `github`.',
  'path name': 'The name of a module.',
  'path env': 'The name of an environment of the module.',
  'path id': idRule,
  'path sessionId': idRule,
  'path userId': idRule,
  'path deviceId': idRule,
  'path credentialId': idRule,
  'cookie refresh': `The refresh token of a session, to tell whether it is the one that this flow opened. ${opaque}`,
  'cookie device': cookieRule,
  'cookie registration': cookieRule,
  'cookie recognition': cookieRule,
  'cookie sign_in': cookieRule,
  'cookie oauth': flowRule,
  'cookie oauth_form': flowRule,
}

/** The names that rules are given for. */
export const ruledNames: readonly string[] = Object.keys(rules)

/** The rule of a parameter; an empty object where there is none. */
export function ruleOfParameter(where: 'path' | 'cookie', name: string): { description?: string } {
  const description = rules[`${where} ${name}`]
  return description === undefined ? {} : { description }
}

/** What callers send, with the rule of each text in it. */
export function withInputRules(schema: JsonSchema, operationId: string): JsonSchema {
  return described(schema, '*', (name) => rules[`${operationId} ${name}`] ?? rules[name])
}

type RuleOf = (name: string) => string | undefined

function described(schema: JsonSchema, name: string, ruleOf: RuleOf): JsonSchema {
  const inner = Object.entries(schema).map(([key, value]) => {
    if (key === 'properties' && isSchema(value)) {
      const members = Object.entries(value).map(([member, one]) => [
        member,
        isSchema(one) ? described(one, member, ruleOf) : one,
      ])
      return [key, Object.fromEntries(members)]
    }
    if (key === 'items' || key === 'additionalProperties') {
      return [key, isSchema(value) ? described(value, name, ruleOf) : value]
    }
    if ((key === 'anyOf' || key === 'oneOf') && Array.isArray(value)) {
      return [key, value.map((one) => (isSchema(one) ? described(one, name, ruleOf) : one))]
    }
    return [key, value]
  })
  const rule = isText(schema) ? ruleOf(name) : undefined
  return { ...(rule === undefined ? {} : { description: rule }), ...Object.fromEntries(inner) }
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is one of a closed list says so by itself. */
function isText({ type }: JsonSchema): boolean {
  return [type].flat().includes('string')
}
