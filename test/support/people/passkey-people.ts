import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../hosts/hosts.js'
import { type Reply, textOf } from '../hosts/http-client.js'
import {
  type AuthenticatorTraits,
  type CreationOptions,
  type Departure,
  type RequestOptions,
  type SoftwareAuthenticator,
  softwareAuthenticator,
} from './passkey-authenticator.js'
import { type Person, person, type SignedIn, signIn } from './people.js'

/** Where the pages of the test host's surfaces are. */
export const origins = {
  operator: 'https://admin.example.com',
  client: 'https://app.example.com',
} as const

/** A ceremony that has begun. */
export interface Begun<O> {
  readonly challengeId: string
  readonly options: O
}

/** Somebody with a passkey, signed in. */
export interface Holder extends Person, SignedIn {
  readonly authenticator: SoftwareAuthenticator
  readonly credentialId: string
}

interface Who {
  readonly bearer?: string
  readonly mfaToken?: string
  readonly currentPassword?: string
}

function begunOf<O>(reply: Reply): Begun<O> {
  assert.equal(reply.status, 200, reply.text)
  return JSON.parse(reply.text)
}

/** What a host with these surfaces says of passkeys, as a browser would ask for it. */
export function passkeysOn(host: Pick<ContractHost, 'send'>, surface: Surface) {
  const post = (path: string, { bearer, ...body }: Who & Record<string, unknown>) =>
    host.send('POST', `/v1/auth/${surface}${path}`, {
      ...(bearer === undefined ? {} : { bearer }),
      body,
    })

  return {
    startRegistration: (who: Who) => post('/webauthn/registration/options', { ...who }),
    finishRegistration: (who: Who, challengeId: string, response: unknown, name?: string) =>
      post('/webauthn/registration/verify', {
        ...who,
        challengeId,
        response,
        ...(name === undefined ? {} : { name }),
      }),
    /** Both halves; the reply to the second. */
    async register(
      who: Who,
      authenticator: SoftwareAuthenticator,
      departure: Departure = {},
      name?: string,
    ): Promise<Reply> {
      const { challengeId, options } = begunOf<CreationOptions>(await this.startRegistration(who))
      const { currentPassword: _, ...same } = who
      const response = authenticator.create(options, departure)
      return this.finishRegistration(same, challengeId, response, name)
    },
    startLogin: (mfaToken?: string) =>
      post('/webauthn/login/options', mfaToken === undefined ? {} : { mfaToken }),
    finishLogin: (challengeId: string, response: unknown, mfaToken?: string) =>
      post('/webauthn/login/verify', {
        challengeId,
        response,
        ...(mfaToken === undefined ? {} : { mfaToken }),
      }),
    async begunLogin(mfaToken?: string): Promise<Begun<RequestOptions>> {
      return begunOf(await this.startLogin(mfaToken))
    },
    /** Both halves; passwordless without a ticket. */
    async login(
      authenticator: SoftwareAuthenticator,
      mfaToken?: string,
      departure: Departure = {},
    ): Promise<Reply> {
      const { challengeId, options } = await this.begunLogin(mfaToken)
      return this.finishLogin(challengeId, authenticator.get(options, departure), mfaToken)
    },
    async begunStepUp(bearer: string): Promise<Begun<RequestOptions>> {
      return begunOf(await post('/webauthn/step-up/options', { bearer }))
    },
    finishStepUp: (bearer: string, challengeId: string, response: unknown) =>
      post('/step-up', { bearer, method: 'webauthn', challengeId, response }),
    async stepUp(
      bearer: string,
      authenticator: SoftwareAuthenticator,
      departure: Departure = {},
    ): Promise<Reply> {
      const { challengeId, options } = await this.begunStepUp(bearer)
      return this.finishStepUp(bearer, challengeId, authenticator.get(options, departure))
    },
    list: (bearer: string) =>
      host.send('GET', `/v1/auth/${surface}/webauthn/credentials`, { bearer }),
    remove: (bearer: string, credentialId: string) =>
      host.send('DELETE', `/v1/auth/${surface}/webauthn/credentials/${credentialId}`, { bearer }),
  }
}

/** Registers over HTTP. The session was opened with the password alone. */
export async function passkeyHolder(
  host: ContractHost,
  surface: Surface,
  traits: Partial<AuthenticatorTraits> = {},
  departure: Departure = {},
): Promise<Holder> {
  const who = await person(host, surface)
  const session = await signIn(host, surface, who)
  const authenticator = softwareAuthenticator({ origin: origins[surface], ...traits })
  const given = { bearer: session.bearer, currentPassword: who.password }
  const done = await passkeysOn(host, surface).register(given, authenticator, departure)
  assert.equal(done.status, 201, done.text)
  return { ...who, ...session, authenticator, credentialId: textOf(done.json(), 'credentialId') }
}
