import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { goodPassword } from '../../support/people/people.js'
import { settingsHost } from '../settings/settings-host.js'

const path = (surface: Surface): string => `/v1/auth/${surface}/register`

const stranger = 'the password of a stranger'

function register(host: ContractHost, surface: Surface, given: Record<string, unknown>) {
  const body = { email: 'ada@example.org', password: goodPassword, ...given }
  return host.send('POST', path(surface), { body })
}

eachHost.describe('an address registered again', (kind) => {
  eachSurface.describe((surface) => {
    it('changes nothing of an account that was in use before verification was required', async () => {
      const host = await settingsHost({ settings: { emailVerificationRequired: false } }, kind)
      const email = 'ada@example.org'
      await register(host, surface, { email })
      await host.set({ config: { emailVerificationRequired: 'true' } })
      await register(host, surface, { email, password: stranger })
      await host.auth.close()
      expect(host.mailer.sent).toMatchObject([{ to: email, template: 'accountExists' }])
      await host.set({ config: { emailVerificationRequired: 'false' } })
      const login = (password: string) =>
        host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })
      expect(outcomeOf(await login(goodPassword))).toBe('200')
      expect(outcomeOf(await login(stranger))).toBe('401 invalid_credentials')
    })
  })
})
