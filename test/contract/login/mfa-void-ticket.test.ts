import { expect, it } from 'vitest'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, storedIn, type surfaces } from '../../support/hosts/open-host.js'
import { codeOf, passwordLogin } from '../../support/people/authenticator.js'
import { person } from '../../support/people/people.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'

/** Somebody who knows the password, at the enrollment that the policy asks for. */
async function enrolling(surface: (typeof surfaces)[number]) {
  const settings = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
  const host = await openHost({ settings })
  const who = await person(host, surface)
  const first = await passwordLogin(host, surface, who)
  const mfaToken = textOf(first.json(), 'mfaToken')
  const begin = () => host.send('POST', `/v1/auth/${surface}/mfa/totp`, { body: { mfaToken } })
  const confirm = (secret: string) => {
    const body = { mfaToken, code: codeOf(host, secret) }
    return host.send('POST', `/v1/auth/${surface}/mfa/totp/confirm`, { body })
  }
  const recover = async () => {
    const token = await linkFor(host, surface, who.email)
    expect((await reset(host, surface, token, 'a new long passphrase')).status).toBe(204)
  }
  const factors = storedIn(host, surface).totpFactors
  return { begin, confirm, recover, factor: () => factors.get(who.id) }
}

eachSurface.describe('a login cut off by its owner', (surface) => {
  it('enrolls nothing after the password was changed', async () => {
    const { begin, confirm, recover, factor } = await enrolling(surface)
    const secret = textOf((await begin()).json(), 'secret')
    await recover()
    const late = await confirm(secret)
    expect([late.status, late.code]).toEqual([401, 'mfa_ticket_invalid'])
    expect((await factor())?.confirmed).toBe(false)
  })

  it('begins nothing either', async () => {
    const { begin, recover, factor } = await enrolling(surface)
    await recover()
    const late = await begin()
    expect([late.status, late.code]).toEqual([401, 'mfa_ticket_invalid'])
    expect(await factor()).toBeNull()
  })
})
