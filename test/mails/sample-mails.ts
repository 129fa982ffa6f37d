import type { Mail } from '../../src/ports/host.js'

/** Monday, 23 November 2026, 08:05 UTC. */
export const sentAt = Date.UTC(2026, 10, 23, 8, 5)

const hour = 3_600_000
const userAgent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
const source = { ip: '203.0.113.9', userAgent }
const at = sentAt - 60_000
const token = 'c2FtcGxlLXRva2Vu'
const link = (page: string, hours: number) => ({
  url: `https://app.example.com/${page}#token=${token}`,
  token,
  expiresAt: sentAt + hours * hour,
})

const contents: { readonly [M in Mail as M['template']]: M['data'] } = {
  verifyEmail: link('verify-email', 24),
  changeEmail: link('verify-email', 24),
  resetPassword: link('reset-password', 1),
  accountExists: { url: 'https://app.example.com/login' },
  loginCode: {
    code: '04837261',
    expiresAt: sentAt + hour / 6,
    site: 'app.example.com',
    ...{ at, ...source },
  },
  newDevice: { at, ...source },
  passwordChanged: { at },
  emailChangeRequested: { at },
  emailChanged: { at, newEmail: 'ada@new.example' },
  accountDeleted: { at },
  mfaChanged: { at, change: 'totpEnrolled' },
  secondFactorLockedOut: { at, method: 'totp', until: sentAt + hour / 4, budget: 'address' },
  loginSuspicious: { at, reason: 'password', ip: null, userAgent: null },
  deviceTrusted: { at, ...source },
  identityChanged: { at, provider: 'google', change: 'linked' },
}

/** One of each template, as the library sends them. */
export const sampleMails: readonly Mail[] = Object.entries(contents).map(
  ([template, data]) =>
    ({
      surface: 'client',
      to: 'ada@example.org',
      // As in mails to an address that is not confirmed.
      name: 'token' in data ? '' : 'Ada Lovelace',
      template,
      data,
    }) as Mail,
)
