import type { SwitchName } from './switches.js'

/** What a door says once a switch is thrown after all that leads up to it; what is not named changes nothing. */
type Row = Readonly<Partial<Record<SwitchName, string>>>

const passwordsOn: Row = { 'passwords off': '403 password_login_disabled' }
const ticketOfPassword: Row = { 'passwords off': '401 mfa_ticket_invalid' }
/** The linked account, or the passkey, is the last way to sign in. */
const otherMethodLeft: Row = { 'passwords off': '409 last_login_method' }

const registrationOpen: Row = {
  'registration off': '403 registration_disabled',
  'terms demanded': '422 terms_not_accepted',
  'domains listed': '403 email_domain_not_allowed',
}
const signUpOpen: Row = {
  'registration off': '302 registration_disabled',
  'terms demanded': '302 terms_not_accepted',
  'domains listed': '302 email_domain_not_allowed',
}
const domainAllowed: Row = { 'domains listed': '403 email_domain_not_allowed' }

/** Where a provider's page leads back to. */
const googleOnReturn: Row = { 'google off': '302 oauth_provider_disabled' }
const microsoftOnReturn: Row = { 'microsoft off': '302 oauth_provider_disabled' }
const appleOnReturn: Row = { 'apple off': '302 oauth_provider_disabled' }
const githubOnReturn: Row = { 'github off': '302 oauth_provider_disabled' }
const googleOn: Row = { 'google off': '403 oauth_provider_disabled' }
const githubOn: Row = { 'github off': '403 oauth_provider_disabled' }
const ticketOfGoogle: Row = { 'google off': '401 mfa_ticket_invalid' }
const ticketOfApple: Row = { 'apple off': '401 mfa_ticket_invalid' }

const factorAsked: Row = { 'factors required': '200 mfaEnrollmentRequired' }
/** Back on the host's page, with a ticket in place of a session. */
const factorAskedOnReturn: Row = { 'factors required': '302' }
const factorToSpare: Row = { 'factors required': '409 last_factor_required' }
/** A kind that is off takes no new enrolment. */
const appsOn: Row = {
  'apps off': '403 mfa_method_disabled',
  'apps and passkeys off': '403 mfa_method_disabled',
}
const passkeysOn: Row = {
  'passkeys off': '403 mfa_method_disabled',
  'apps and passkeys off': '403 mfa_method_disabled',
}
const passwordlessOn: Row = { ...passkeysOn, 'passkeys second only': '403 mfa_method_disabled' }
/** Of somebody who has the other kind as well: with both off, either is as good. */
const appsOffered: Row = { 'apps off': '401 invalid_mfa_code' }
const passkeysOffered: Row = { 'passkeys off': '403 mfa_method_disabled' }
const devicesTrusted: Row = { 'trusted devices off': '200 mfaRequired' }
const devicesOn: Row = { 'trusted devices off': '403 mfa_method_disabled' }

/**
 * Every door, by its operation and its flow, with the conditions that it hangs on. A door that hangs on none is open
 * whatever is switched: sessions outlive the switch of the method that opened them, and so does what people do in them.
 */
export const doors: Readonly<Record<string, readonly Row[]>> = {
  'login: a password on the web': [passwordsOn, factorAsked],
  'mobileLogin: a password in an app': [passwordsOn, factorAsked],
  'login: a password at /login from a trusted device': [passwordsOn, devicesTrusted],
  'mobileLogin: a password at /mobile/login from a trusted device': [passwordsOn, devicesTrusted],
  'register: a registration where addresses need no confirmation': [registrationOpen, passwordsOn],
  'loginCode: a code asked for': [],
  'loginCodeVerify: a mailed code in the browser that asked': [factorAsked],
  'loginCodeVerify: a mailed code in the app that asked': [factorAsked],
  'getJwks: the public keys': [],
  'getOptions: what pages ask for first': [],
  'resetPassword: a mailed link for a new password': [passwordsOn],
  'verifyEmail: a mailed link that confirms an address': [],
  'verifyEmail: the link of a registration, in its browser': [registrationOpen, passwordsOn],
  'verifyEmail: the link of a registration, with a password chosen there': [
    registrationOpen,
    passwordsOn,
  ],
  'verifyEmail: a mailed link that confirms another address': [domainAllowed],
  'forgotPassword: a link asked for': [passwordsOn],
  'resendEmailVerification: a new link asked for': [],
  'requestEmailChange: with the current password': [domainAllowed],
  'sendUserPasswordReset: by an administrator': [passwordsOn],
  'resendUserEmailVerification: by an administrator': [],
  'completeLoginMfa: a code of the authenticator app after a password on the web': [
    ticketOfPassword,
  ],
  'completeLoginMfa: a backup code after a password in an app': [ticketOfPassword],
  'confirmTotp: an authenticator app enrolled on the way in': [ticketOfPassword, appsOn],
  'getMfaStatus: the factors': [],
  'enrollTotp: a secret that is no factor yet': [appsOn],
  'removeTotp: with a proof': [factorToSpare],
  'regenerateBackupCodes: with a proof': [],
  'verifyStepUp: a code of the authenticator app': [],
  'resetUserMfa: by an administrator': [],
  'finishPasskeyLogin: a passkey after a password on the web': [ticketOfPassword],
  'finishPasskeyLogin: a passkey in place of both factors': [passwordlessOn],
  'finishPasskeyRegistration: a passkey registered on the way in': [ticketOfPassword, passkeysOn],
  'startPasskeyRegistration: with the current password': [passkeysOn],
  'startPasskeyLogin: after a password': [ticketOfPassword],
  'startPasskeyStepUp: with a passkey': [],
  'listPasskeys: the passkeys': [],
  'deletePasskey: with a proof': [factorToSpare, otherMethodLeft],
  'trustDevice: with a proof': [devicesOn],
  'listTrustedDevices: the devices': [],
  'revokeTrustedDevice: one of their own': [],
  'refresh: a refresh token in an app': [],
  'refreshCookie: a refresh cookie': [],
  'getSession: a page that opens': [],
  'logout: of this session': [],
  'getMe: the account': [],
  'updateMe: another name': [],
  'changePassword: with the current password': [],
  'deleteMe: with the current password': [{ 'deletion off': '403 account_deletion_disabled' }],
  'listSessions: the sessions': [],
  'terminateSession: another session of the same person': [],
  'oauthCallback: an answer of google in a browser': [googleOnReturn, factorAskedOnReturn],
  'oauthCallbackFormPost: an answer of apple in a browser': [appleOnReturn, factorAskedOnReturn],
  'completeLoginMfa: a code of the authenticator app after a flow to google': [ticketOfGoogle],
  'completeLoginMfa: a code of the authenticator app after a flow to apple': [ticketOfApple],
  'exchangeMobileOauth: the code of an app that went to a provider': [githubOn, factorAsked],
  'listOauthProviders: the providers': [],
  'startOauth: a flow in a browser': [googleOn],
  'startMobileOauth: a flow of an app': [googleOn],
  'startOauthLink: with the current password': [googleOn],
  'unlinkOauth: with the current password': [otherMethodLeft],
  'unlinkUserOauth: by an administrator': [otherMethodLeft],
  'issueServiceToken: client credentials': [],
  'exchangeClientCredentials: client credentials of an OAuth library': [],
  'listServiceAccounts: the accounts': [],
  'createServiceAccount: with its first credential': [],
  'getServiceAccount: the account': [],
  'updateServiceAccount: another name': [],
  'issueServiceCredential: a second one': [],
  'revokeServiceCredential: the only one': [],
  'listModules: the modules': [],
  'getModule: the module': [],
  'updateModule: one text': [],
  'getEnvironment: the environment': [],
  'updateEnvironment: one text': [],
  'setActiveEnvironment: another one': [],
  'listEnvironmentRevisions: the revisions': [],
  'login: a password of an account whose mailbox is not proved': [
    passwordsOn,
    {
      'verification demanded': '403 email_not_verified',
      'factors required': '403 email_not_verified',
    },
  ],
  'oauthCallback: a new account by google': [signUpOpen, googleOnReturn, factorAskedOnReturn],
  'oauthCallback: a new account by microsoft': [signUpOpen, microsoftOnReturn, factorAskedOnReturn],
  'oauthCallbackFormPost: a new account by apple': [signUpOpen, appleOnReturn, factorAskedOnReturn],
  'oauthCallback: a new account by github': [signUpOpen, githubOnReturn, factorAskedOnReturn],
  'oauthCallback: an answer of microsoft in a browser': [microsoftOnReturn, factorAskedOnReturn],
  'oauthCallback: an answer of github in a browser': [githubOnReturn, factorAskedOnReturn],
  'oauthCallback: an account of google that is being linked': [googleOnReturn],
  'completeLoginMfa: a code of the authenticator app, of somebody with an authenticator app and a passkey':
    [ticketOfPassword, appsOffered],
  'completeLoginMfa: a backup code, of somebody with an authenticator app and a passkey': [
    ticketOfPassword,
  ],
  'finishPasskeyLogin: a passkey after a password, of somebody with an authenticator app and a passkey':
    [ticketOfPassword, passkeysOffered],
  'startPasskeyLogin: after a password, of somebody with an authenticator app and a passkey': [
    ticketOfPassword,
    passkeysOffered,
  ],
  'verifyStepUp: a code of the authenticator app, of somebody with an authenticator app and a passkey':
    [appsOffered],
  'startPasskeyStepUp: with a passkey, of somebody with an authenticator app and a passkey': [
    passkeysOffered,
  ],
  'startPasskeyLogin: in place of both factors': [passwordlessOn],
  'verifyStepUp: a passkey': [],
  'confirmTotp: an authenticator app enrolled within a session': [appsOn],
  'finishPasskeyRegistration: a passkey registered within a session': [passkeysOn],
}
