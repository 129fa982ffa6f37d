import { textOf } from '../support/hosts/http-client.js'
import { provedOperator } from '../support/people/administrator.js'
import { codeOf, type Enrolled, enrolled, passwordLogin } from '../support/people/authenticator.js'
import { administratorsMay } from './administrators-may.js'
import { type Flow, post, request, signedInFlow, type Walk } from './flow.js'
import { wantSecondFactor } from './want-second-factor.js'

/** Somebody with an app: the walker, or a person of the flow's own. */
export const holderOf = async ({ host, surface, enrolled: who }: Walk): Promise<Enrolled> =>
  who ?? enrolled(host, surface)

export interface Shown {
  readonly method: 'totp' | 'backupCode'
  readonly code: string
}

function secondStep(
  name: string,
  door: 'login' | 'mobile/login',
  shownBy: (who: Enrolled) => Promise<Shown>,
): Flow {
  return {
    of: 'completeLoginMfa',
    name,
    async prepare(walk) {
      const { host, surface } = walk
      const who = await holderOf(walk)
      const shown = await shownBy(who)
      const mfaToken = textOf((await passwordLogin(host, surface, who, door)).json(), 'mfaToken')
      const step = post(walk, '/login/mfa', { mfaToken, ...shown })
      return { step, userId: who.id, email: who.email }
    },
  }
}

const totp = async (who: Enrolled): Promise<Shown> => ({
  method: 'totp',
  code: await who.nextCode(),
})

export const codeAfterPassword = secondStep(
  'a code of the authenticator app after a password on the web',
  'login',
  totp,
)

export const backupCodeAfterPassword = secondStep(
  'a backup code after a password in an app',
  'mobile/login',
  async ({ backupCodes: [code = ''] }) => ({ method: 'backupCode', code }),
)

/** An app is enrolled on the way in: whoever has one already gets no ticket for it. */
export const enrollmentByTicket: Flow = {
  of: 'confirmTotp',
  name: 'an authenticator app enrolled on the way in',
  async prepare(walk) {
    const { who, mfaToken } = await wantSecondFactor(walk)
    const begun = await post(walk, '/mfa/totp', { mfaToken })()
    const code = codeOf(walk.host, textOf(begun.json(), 'secret'))
    const step = post(walk, '/mfa/totp/confirm', { mfaToken, code })
    return { step, userId: who.id, email: who.email }
  },
}

/** A request of somebody whose session has just shown a second factor. */
const proved = (of: string, method: string, path: string): Flow => ({
  of,
  name: 'with a proof',
  async prepare(walk) {
    const who = await holderOf(walk)
    const { bearer, id: userId, email } = who
    await post(walk, '/step-up', await totp(who), { bearer })()
    return { step: request(walk, method, path, { bearer }), userId, email }
  },
})

export const secondFactorFlows: readonly Flow[] = [
  codeAfterPassword,
  backupCodeAfterPassword,
  enrollmentByTicket,
  signedInFlow('getMfaStatus', 'the factors', () => ['GET', '/mfa']),
  signedInFlow('enrollTotp', 'a secret that is no factor yet', (_walk, { password }) => [
    'POST',
    '/mfa/totp',
    { currentPassword: password },
  ]),
  proved('removeTotp', 'DELETE', '/mfa/totp'),
  proved('regenerateBackupCodes', 'POST', '/mfa/backup-codes'),
  {
    of: 'verifyStepUp',
    name: 'a code of the authenticator app',
    async prepare(walk) {
      const who = await holderOf(walk)
      const step = post(walk, '/step-up', await totp(who), { bearer: who.bearer })
      return { step, userId: who.id, email: who.email }
    },
  },
  {
    of: 'resetUserMfa',
    name: 'by an administrator',
    options: administratorsMay,
    async prepare(walk) {
      const { id: userId, email } = await holderOf(walk)
      const { bearer } = await provedOperator(walk.host)
      const step = post(walk, `/users/${userId}/mfa-reset`, {}, { bearer })
      return { step, userId, email }
    },
  },
]
