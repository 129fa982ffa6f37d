import { expect, it } from 'vitest'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'
import { storeSettings } from '../oauth/oauth-host.js'

const minute = 60_000

eachSurface.describe('a change by a person whose password is of no use any more', (surface) => {
  async function opened() {
    const host = await openHost({ settings: { stepUpMaxAge: '5m' } })
    const who = await signedInPerson(host, surface)
    const { bearer, password } = who
    await storeSettings(host, {
      [surface === 'operator' ? 'passwordLoginOperatorEnabled' : 'passwordLoginClientEnabled']:
        'false',
    })
    const enroll = async (currentPassword?: string) =>
      outcomeOf(
        await host.send('POST', `/v1/auth/${surface}/mfa/totp`, {
          bearer,
          body: { currentPassword },
        }),
      )
    return { host, password, enroll }
  }

  it('needs a recent login, as without a password', async () => {
    const { host, enroll } = await opened()
    expect(await enroll()).toBe('201')
    await host.clock.advance(5 * minute)
    expect(await enroll()).toBe('403 step_up_required')
  })

  it('does not take the password in its place', async () => {
    const { host, password, enroll } = await opened()
    await host.clock.advance(5 * minute)
    expect(await enroll(password)).toBe('403 step_up_required')
  })
})
