import { textOf } from '../../support/hosts/http-client.js'
import {
  codeOf,
  type Enrolled,
  enrolled,
  passwordLogin,
} from '../../support/people/authenticator.js'
import { person } from '../../support/people/people.js'
import type { Pathway, Walk } from './pathway.js'
import { sender } from './sender.js'

/** Of a login whose password was right, and whose ticket was issued before the control came. */
export const ticketCells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'tokens',
  'a policy that wants a second factor': 'tokens',
  'a disabled account': '401 mfa_ticket_invalid',
  'a service principal': '401 mfa_ticket_invalid',
  'an unverified address': '403 email_not_verified',
  // The password was shown already, and each kind of secret has guesses of its own.
  'guesses at the password used up': 'tokens',
  'requests used up': '429 rate_limited',
  'the other surface': '401 mfa_ticket_invalid',
}

interface Shown {
  readonly method: 'totp' | 'backupCode'
  readonly code: string
}

function secondStep(
  name: string,
  door: 'login' | 'mobile/login',
  shownBy: (who: Enrolled) => Promise<Shown>,
): Pathway {
  return {
    of: 'completeLoginMfa',
    name,
    async prepare({ host, surface, ...walk }) {
      const who = walk.enrolled ?? (await enrolled(host, surface))
      const shown = await shownBy(who)
      const first = await passwordLogin(host, surface, who, door)
      const mfaToken = textOf(first.json(), 'mfaToken')
      const step = sender({ host, surface }, '/login/mfa', { mfaToken, ...shown })
      return { step, userId: who.id, email: who.email }
    },
    cells: ticketCells,
  }
}

async function totp(who: Enrolled): Promise<Shown> {
  return { method: 'totp', code: await who.nextCode() }
}

async function backupCode({ backupCodes: [code = ''] }: Enrolled): Promise<Shown> {
  return { method: 'backupCode', code }
}

/** An app is enrolled on the way in: whoever has one already gets no ticket for it. */
async function enrollment({ host, surface }: Walk) {
  await host.set({ config: { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } })
  const who = await person(host, surface)
  const first = await passwordLogin(host, surface, who)
  const mfaToken = textOf(first.json(), 'mfaToken')
  const base = '/mfa/totp'
  const begun = await sender({ host, surface }, base, { mfaToken })({})
  const code = codeOf(host, textOf(begun.json(), 'secret'))
  const step = sender({ host, surface }, `${base}/confirm`, { mfaToken, code })
  return { step, userId: who.id, email: who.email }
}

export const secondFactorPathways: readonly Pathway[] = [
  secondStep('a code of the app after a password on the web', 'login', totp),
  secondStep('a backup code after a password in an app', 'mobile/login', backupCode),
  {
    of: 'confirmTotp',
    name: 'an app enrolled on the way in',
    prepare: enrollment,
    cells: {
      ...ticketCells,
      'a second factor': { cannot: 'who has a factor gets no ticket for enrolling one' },
    },
  },
]
