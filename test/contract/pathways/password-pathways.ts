import { mailedToken } from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, signIn } from '../../support/people/people.js'
import { changeUser } from './controls.js'
import type { Pathway } from './pathway.js'
import { sender } from './sender.js'

let strangers = 0

const passwordCells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'mfaRequired',
  'a policy that wants a second factor': 'mfaEnrollmentRequired',
  'a disabled account': '401 invalid_credentials',
  'a service principal': '401 invalid_credentials',
  'an unverified address': '403 email_not_verified',
  'guesses at the password used up': '429 rate_limited',
  'requests used up': '429 rate_limited',
  'the other surface': '401 invalid_credentials',
}

const isNew = { cannot: 'the account is made by this request' }

/** A link proves the address and opens no session. */
const linkCells: Pathway['cells'] = {
  nothing: '204',
  'a second factor': '204',
  'a policy that wants a second factor': '204',
  'a disabled account': '400 invalid_token',
  'a service principal': '400 invalid_token',
  'an unverified address': '204',
  'guesses at the password used up': '204',
  'requests used up': '429 rate_limited',
  'the other surface': '400 invalid_token',
}

const confirmationCells: Pathway['cells'] = {
  ...linkCells,
  nothing: 'verified',
  'a second factor': 'verified',
  'a policy that wants a second factor': 'verified',
  'an unverified address': 'verified',
  'guesses at the password used up': 'verified',
}

export const passwordPathways: readonly Pathway[] = [
  {
    of: 'login',
    name: 'a password on the web',
    prepare: async (walk) => {
      const { email, password } = walk.who
      return { step: sender(walk, '/login', { email, password }) }
    },
    cells: passwordCells,
  },
  {
    of: 'mobileLogin',
    name: 'a password in an app',
    prepare: async (walk) => {
      const { email, password } = walk.who
      return { step: sender(walk, '/mobile/login', { email, password }) }
    },
    cells: passwordCells,
  },
  {
    of: 'register',
    name: 'a registration where addresses need no confirmation',
    options: { settings: { emailVerificationRequired: false } },
    prepare: async (walk) => {
      strangers += 1
      const email = `new-${strangers}@example.org`
      return { step: sender(walk, '/register', { email, password: goodPassword }) }
    },
    cells: {
      nothing: 'tokens',
      'a second factor': isNew,
      'a policy that wants a second factor': 'mfaEnrollmentRequired',
      'a disabled account': isNew,
      'a service principal': isNew,
      'an unverified address': { cannot: 'nobody has to confirm it, as the name says' },
      'guesses at the password used up': isNew,
      'requests used up': '429 rate_limited',
      'the other surface': { cannot: 'it is a registration there' },
    },
  },
  {
    of: 'resetPassword',
    name: 'a mailed link for a new password',
    prepare: async (walk) => {
      const { email } = walk.who
      await sender(walk, '/password/forgot', { email })({})
      const token = await mailedToken(walk.host, 'resetPassword', email)
      return { step: sender(walk, '/password/reset', { token, newPassword: otherPassword }) }
    },
    cells: linkCells,
  },
  {
    of: 'verifyEmail',
    name: 'a mailed link that confirms an address',
    prepare: async (walk) => {
      const { email, id } = walk.who
      await changeUser(walk.host, walk.surface, id, { emailVerifiedAt: null })
      await sender(walk, '/email/verify/resend', { email })({})
      const token = await mailedToken(walk.host, 'verifyEmail', email)
      return { step: sender(walk, '/email/verify', { token }) }
    },
    cells: confirmationCells,
  },
  {
    of: 'verifyEmail',
    name: 'a mailed link that confirms another address',
    prepare: async (walk) => {
      const { host, surface, who, enrolled } = walk
      strangers += 1
      const newEmail = `other-${strangers}@example.org`
      const body = { newEmail, currentPassword: who.password }
      const { bearer } = enrolled ?? (await signIn(host, surface, who))
      if (enrolled !== null) {
        const proof = { method: 'totp', code: await enrolled.nextCode() }
        await host.send('POST', `/v1/auth/${surface}/step-up`, { bearer, body: proof })
      }
      await host.send('POST', `/v1/auth/${surface}/me/email`, { bearer, body })
      const token = await mailedToken(host, 'changeEmail', newEmail)
      return { step: sender(walk, '/email/verify', { token }) }
    },
    cells: confirmationCells,
  },
]
