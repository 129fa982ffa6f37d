import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser'
import type { AuthClient, InputOf, ReplyOf } from './auth-client.js'
import type { Calls, ClientCalls } from './calls.js'

type Added = ClientCalls['POST /webauthn/registration/verify']
type SignIn = ClientCalls['POST /webauthn/login/verify']

/** What may be said with a new passkey. */
export interface AddPasskeyOptions extends Omit<InputOf<Added>, 'challengeId' | 'response'> {
  /** The account's password, where the first factor of an account asks for it. */
  readonly currentPassword?: string
}

/** What may be said with a login by passkey. */
export interface PasskeySignInOptions extends Omit<InputOf<SignIn>, 'challengeId' | 'response'> {
  /**
   * Offers passkeys in the list of an input with `autocomplete="username webauthn"`, and waits until the user chooses
   * one, however long the page is open. Without it, the browser asks at once.
   */
  readonly autofill?: boolean
}

/** Passkeys on a page. Each function shows the browser's dialogue, and rejects with its error if the user cancels. */
export interface Passkeys {
  /**
   * Registers a passkey for the signed-in user. With `mfaToken`, for a login that has to enrol a factor, and signs in.
   * Resolves with the reply.
   */
  readonly add: (options?: AddPasskeyOptions) => Promise<ReplyOf<Added>>
  /**
   * Signs in with a passkey: without a password, or with `mfaToken` as the second factor of a login. Resolves with
   * the reply.
   */
  readonly signIn: (options?: PasskeySignInOptions) => Promise<ReplyOf<SignIn>>
  /** Proves a passkey again, as `onStepUp` has to. */
  readonly stepUp: () => Promise<void>
}

/**
 * The ceremonies of WebAuthn on a page, by `@simplewebauthn/browser`, which the page has to install. Errors of the
 * server are the client's `PosternError`; those of the browser are `WebAuthnError` of that package.
 *
 * @example
 * import { createClient } from 'postern/client'
 * import { passkeys } from 'postern/client/passkeys'
 *
 * const client = createClient({ surface: 'client', baseUrl: 'https://api.example.com' })
 * const { signIn, add } = passkeys(client)
 * const login = await signIn()
 * if (login.status === 'authenticated') await add({ name: 'This laptop' })
 */
export function passkeys<S extends keyof Calls>(of: AuthClient<S>): Passkeys {
  // These operations are the same on both surfaces.
  const client = of as unknown as AuthClient<'client'>
  return {
    async add({ currentPassword, ...more } = {}) {
      const { mfaToken } = more
      const begun = await client.call('POST /webauthn/registration/options', {
        ...(mfaToken === undefined ? {} : { mfaToken }),
        ...(currentPassword === undefined ? {} : { currentPassword }),
      })
      // The library sends what the standard's JSON form says (WebAuthn §5.1.10).
      const optionsJSON = begun.options as unknown as PublicKeyCredentialCreationOptionsJSON
      const { id, rawId, type, response } = await startRegistration({ optionsJSON })
      const { clientDataJSON, attestationObject, transports } = response
      const { challengeId } = begun
      return client.call('POST /webauthn/registration/verify', {
        ...more,
        challengeId,
        response: {
          id,
          rawId,
          type,
          response: { clientDataJSON, attestationObject, ...(transports ? { transports } : {}) },
        },
      })
    },
    async signIn({ autofill = false, ...more } = {}) {
      const { mfaToken } = more
      const ticket = mfaToken === undefined ? {} : { mfaToken }
      const begin = () => client.call('POST /webauthn/login/options', ticket)
      const isWanted = () => client.get().status !== 'signedIn'
      const proof = await (autofill ? chosen(begin, isWanted) : asserted(await begin(), false))
      return client.call('POST /webauthn/login/verify', { ...more, ...proof })
    },
    async stepUp() {
      const proof = await asserted(await client.call('POST /webauthn/step-up/options'), false)
      await client.call('POST /step-up', { method: 'webauthn', ...proof })
    },
  }
}

/** A challenge is good for five minutes at the server. */
const renewMs = 4 * 60_000

/** What the user chooses from the list of the input, which gets a new challenge before the one it has is too old. */
async function chosen(begin: () => Promise<Begun>, isWanted: () => boolean): Promise<Asserted> {
  let shown = asserted(await begin(), true)
  for (;;) {
    const pause = new Promise<null>((resolve) => setTimeout(resolve, renewMs, null))
    const proof = await Promise.race([shown, pause])
    if (proof !== null) return proof
    if (!isWanted()) continue
    // Where it cannot be had now, the list stays as it is until the next try.
    const next = await Promise.race([shown, begin().catch(() => null)])
    if (next !== null && 'response' in next) return next
    if (next === null || !isWanted()) continue
    shown = inPlaceOf(shown, next)
  }
}

/**
 * The next ceremony ends the one before, which then rejects. On a page without a list, the next one cannot begin, and the
 * one before goes on.
 */
function inPlaceOf(before: Promise<Asserted>, next: Begun): Promise<Asserted> {
  return Promise.any([before, asserted(next, true)]).catch((error: AggregateError) => {
    throw error.errors[1]
  })
}

type Asserted = Awaited<ReturnType<typeof asserted>>
type Begun = ReplyOf<ClientCalls['POST /webauthn/step-up/options']>

/** What the user's authenticator says to a challenge. */
async function asserted({ challengeId, options }: Begun, useBrowserAutofill: boolean) {
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON
  const { id, rawId, type, response } = await startAuthentication({
    optionsJSON,
    useBrowserAutofill,
  })
  return { challengeId, response: { id, rawId, type, response } }
}
