import { expect, it } from 'vitest'
import type { Reply } from '../../support/hosts/http-client.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  type CreationOptions,
  softwareAuthenticator,
} from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'

const surface = 'client'

/** No store holds the first two; the others are what a careless client could send. */
const texts = [
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u2028',
  '💥',
  '',
  ' ',
  '__proto__',
  '../..',
]

/** The body with each text member in turn replaced, also in arrays. */
function* spoiled(body: unknown, text: string): Generator<unknown> {
  if (typeof body === 'string') yield text
  if (typeof body !== 'object' || body === null) return
  for (const [key, value] of Object.entries(body)) {
    for (const changed of spoiled(value, text)) {
      if (Array.isArray(body))
        yield body.map((one, index) => (String(index) === key ? changed : one))
      else yield { ...body, [key]: changed }
    }
  }
}

it('whatever text stands in a WebAuthn member, no store fails of it', async () => {
  const host = await openHost({
    ...withoutLimits,
    settings: { ...withoutLimits.settings, webauthnMode: 'passwordless' },
  })
  const holder = await passkeyHolder(host, surface)
  const on = passkeysOn(host, surface)
  const { bearer, authenticator } = holder
  const post = (path: string, body: unknown): Promise<Reply> =>
    host.send('POST', `/v1/auth/${surface}${path}`, { bearer, body })

  await on.stepUp(bearer, authenticator)
  const creation = (await post('/webauthn/registration/options', {})).json()
  const options = creation['options'] as CreationOptions
  const registration = {
    mfaToken: 'x',
    challengeId: creation['challengeId'],
    response: softwareAuthenticator({ origin: origins[surface] }).create(options, {}),
    name: 'Key',
  }
  const login = await on.begunLogin()
  const assertion = {
    mfaToken: 'x',
    challengeId: login.challengeId,
    response: authenticator.get(login.options, {}),
    deviceName: 'Phone',
  }
  const proof = await on.begunStepUp(bearer)
  const stepUp = {
    method: 'webauthn',
    challengeId: proof.challengeId,
    response: authenticator.get(proof.options, {}),
  }
  const requests = [
    ['/webauthn/registration/verify', registration],
    ['/webauthn/login/options', { mfaToken: 'x' }],
    ['/webauthn/login/verify', assertion],
    ['/step-up', stepUp],
  ] as const
  let asked = 0
  for (const [path, body] of requests) {
    for (const text of texts) {
      for (const changed of spoiled(body, text)) {
        const reply = await post(path, changed)
        asked += 1
        expect([400, 401, 403, 409, 429, 200, 201], JSON.stringify(changed)).toContain(reply.status)
      }
    }
  }
  expect(asked).toBeGreaterThan(200)
  expect(host.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
})
