import { expect, it } from 'vitest'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachStore } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { codeOf, passwordLogin } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { person, signedInPerson } from '../../support/people/people.js'

const surface = 'client'

interface Who {
  readonly bearer?: string
  readonly mfaToken?: string
}

/** An app and a passkey that began at the same time, each with what confirms it. */
async function bothBegun(host: ContractHost, who: Who, currentPassword?: string) {
  const { bearer, ...ticket } = who
  const post = (path: string, body: object) =>
    host.send('POST', `/v1/auth/${surface}${path}`, {
      ...(bearer === undefined ? {} : { bearer }),
      body: { ...ticket, ...body },
    })
  const password = currentPassword === undefined ? {} : { currentPassword }
  const app = await post('/mfa/totp', password)
  const secret = textOf(app.json(), 'secret')
  const on = passkeysOn(host, surface)
  const begun = await on.startRegistration({ ...who, ...password })
  const { challengeId, options } = JSON.parse(begun.text)
  const response = softwareAuthenticator({ origin: origins[surface] }).create(options)
  return [
    () => post('/mfa/totp/confirm', { code: codeOf(host, secret) }),
    () => on.finishRegistration(who, challengeId, response),
  ] as const
}

async function factorsOf(host: ContractHost, userId: string): Promise<number> {
  const { totpFactors, passkeys } = storedIn(host, surface)
  const app = await totpFactors.get(userId)
  const keys = await passkeys.find({ userId }, { limit: 9 })
  return keys.length + (app?.confirmed ? 1 : 0)
}

const wasDone = ({ status }: Reply) => status < 300

eachStore.describe('two first factors at once', (kind) => {
  it('of an app and a passkey enrolled at once in a session, one stands', async () => {
    for (let round = 0; round < 5; round += 1) {
      const host = await openHost({}, kind)
      const { id, bearer, password } = await signedInPerson(host, surface)
      const confirms = await bothBegun(host, { bearer }, password)
      const replies = await Promise.all(confirms.map((confirm) => confirm()))
      expect(replies.filter(wasDone)).toHaveLength(1)
      expect(await factorsOf(host, id)).toBe(1)
    }
  })

  it('nor do both of a login that lacks a factor, and it opens one session', async () => {
    for (let round = 0; round < 3; round += 1) {
      const host = await openHost({ settings: { mfaPolicyClient: 'required' } }, kind)
      const who = await person(host, surface)
      const mfaToken = textOf((await passwordLogin(host, surface, who)).json(), 'mfaToken')
      const confirms = await bothBegun(host, { mfaToken })
      const replies = await Promise.all(confirms.map((confirm) => confirm()))
      expect(replies.filter(wasDone).length).toBeLessThanOrEqual(1)
      expect(await factorsOf(host, who.id)).toBe(1)
    }
  })

  it('one after the other, the second is refused: it was begun before there was a factor', async () => {
    const host = await openHost({}, kind)
    const { id, bearer, password } = await signedInPerson(host, surface)
    const [app, passkey] = await bothBegun(host, { bearer }, password)
    expect(outcomeOf(await app())).toBe('200')
    expect(outcomeOf(await passkey())).toBe('400 webauthn_failed')
    expect(await factorsOf(host, id)).toBe(1)
  })
})
