import { mailedToken, storedIn } from '../support/hosts/open-host.js'
import { otherPassword } from '../support/people/people.js'
import { linkFor } from '../support/people/recovery-steps.js'
import { administratorsMay } from './administrators-may.js'
import { type Flow, post, sessionOf, strangeAddress, type Walk } from './flow.js'

/** Past every check of the library. */
async function forgetVerification({ host, surface, who }: Walk): Promise<void> {
  await storedIn(host, surface).users.update(
    who.id,
    { email: who.email },
    { emailVerifiedAt: null },
  )
}

export const resetLink: Flow = {
  of: 'resetPassword',
  name: 'a mailed link for a new password',
  prepare: async (walk) => {
    const token = await linkFor(walk.host, walk.surface, walk.who.email)
    return { step: post(walk, '/password/reset', { token, newPassword: otherPassword }) }
  },
}

export const verificationLink: Flow = {
  of: 'verifyEmail',
  name: 'a mailed link that confirms an address',
  prepare: async (walk) => {
    const { email } = walk.who
    await forgetVerification(walk)
    await post(walk, '/email/verify/resend', { email })()
    const token = await mailedToken(walk.host, 'verifyEmail', email)
    return { step: post(walk, '/email/verify', { token, newPassword: walk.who.password }) }
  },
}

async function addressChange(walk: Walk) {
  const { bearer } = await sessionOf(walk)
  if (walk.enrolled !== null) {
    const proof = { method: 'totp', code: await walk.enrolled.nextCode() }
    await post(walk, '/step-up', proof, { bearer })()
  }
  const newEmail = strangeAddress()
  const body = { newEmail, currentPassword: walk.who.password }
  return { bearer, newEmail, step: post(walk, '/me/email', body, { bearer }) }
}

export const changeLink: Flow = {
  of: 'verifyEmail',
  name: 'a mailed link that confirms another address',
  prepare: async (walk) => {
    const { bearer, newEmail, step } = await addressChange(walk)
    await step()
    const token = await mailedToken(walk.host, 'changeEmail', newEmail)
    return { step: post(walk, '/email/verify', { token }, { bearer }) }
  },
}

const mailing = (of: string, path: string): Flow => ({
  of,
  name: 'by an administrator',
  options: administratorsMay,
  async prepare(walk) {
    const { bearer } = await sessionOf(walk)
    const { id } = await walk.host.auth[walk.surface].users.create({ email: strangeAddress() })
    return { userId: id, step: post(walk, `/users/${id}/${path}`, {}, { bearer }) }
  },
})

/** What is mailed, and what the links in it do. */
export const mailFlows: readonly Flow[] = [
  resetLink,
  verificationLink,
  changeLink,
  {
    of: 'forgotPassword',
    name: 'a link asked for',
    prepare: async (walk) => ({ step: post(walk, '/password/forgot', { email: walk.who.email }) }),
  },
  {
    of: 'resendEmailVerification',
    name: 'a new link asked for',
    prepare: async (walk) => {
      await forgetVerification(walk)
      return { step: post(walk, '/email/verify/resend', { email: walk.who.email }) }
    },
  },
  {
    of: 'requestEmailChange',
    name: 'with the current password',
    prepare: async (walk) => ({ step: (await addressChange(walk)).step }),
  },
  mailing('sendUserPasswordReset', 'password-reset'),
  mailing('resendUserEmailVerification', 'email-verification'),
]
