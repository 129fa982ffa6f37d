import { mailedToken, outcomeOf } from '../../support/hosts/open-host.js'
import { goodPassword } from '../../support/people/people.js'
import { registrationCookieOf } from '../../support/people/registration-steps.js'
import { post, register, registering, stranger } from './actions.js'
import type { Effect, Effects } from './effect.js'

const hour = 60 * 60_000

const registration: Pick<Effect, 'see'> = {
  see: async (host, surface) => outcomeOf(await register(host, surface)),
}

/** The group Registration. */
export const registrationEffects: Effects = {
  registrationOperatorEnabled: {
    when: [
      ['true', '201'],
      ['false', '403 registration_disabled'],
    ],
    ...registration,
  },
  registrationClientEnabled: {
    when: [
      ['true', '201'],
      ['false', '403 registration_disabled'],
    ],
    ...registration,
  },
  registrationAllowedDomains: {
    when: [
      [
        {
          recordLists: [{ field: 'registrationAllowedDomains', create: ['ours'], remove: [] }],
          config: {
            'registrationAllowedDomains.ours.domain': 'ours.example.com',
            'registrationAllowedDomains.ours.surface': 'both',
            'registrationAllowedDomains.ours.includeSubdomains': 'true',
          },
        },
        '201, 201, 403 email_domain_not_allowed',
      ],
      [
        { config: { 'registrationAllowedDomains.ours.includeSubdomains': 'false' } },
        '201, 403 email_domain_not_allowed, 403 email_domain_not_allowed',
      ],
      [
        { recordLists: [{ field: 'registrationAllowedDomains', create: [], remove: ['ours'] }] },
        '201, 201, 201',
      ],
    ],
    see: (host, surface) =>
      registering(
        host,
        surface,
        ['ours.example.com', 'sub.ours.example.com', 'theirs.example.com'].map((domain) => ({
          email: stranger(domain),
        })),
      ),
  },
  registrationTermsVersion: {
    when: [
      ['2026-01', '422 terms_not_accepted, 422 terms_not_accepted, 201'],
      ['2025-01', '422 terms_not_accepted, 201, 422 terms_not_accepted'],
      ['', '201, 201, 201'],
    ],
    see: (host, surface) =>
      registering(host, surface, [
        {},
        { acceptedTermsVersion: '2025-01' },
        { acceptedTermsVersion: '2026-01' },
      ]),
  },
  emailVerificationRequired: {
    when: [
      ['true', 'verificationRequired, 403 email_not_verified'],
      ['false', 'authenticated, 200'],
    ],
    async see(host, surface) {
      const email = stranger()
      const registered = await register(host, surface, { email })
      const cookie = registrationCookieOf(registered) ?? ''
      const body = { email, password: goodPassword }
      const reply = await post(host, surface, '/login', body, { cookie })
      return `${registered.json()['status']}, ${outcomeOf(reply)}`
    },
  },
  emailVerificationTTL: {
    when: [
      ['2h', '400 token_expired'],
      ['3h', '200'],
    ],
    async see(host, surface) {
      const email = stranger()
      await register(host, surface, { email })
      const token = await mailedToken(host, 'verifyEmail', email)
      await host.clock.advance(2 * hour)
      return outcomeOf(
        await post(host, surface, '/email/verify', { token, newPassword: goodPassword }),
      )
    },
  },
}
