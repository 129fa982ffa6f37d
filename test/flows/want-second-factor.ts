import { storeSettings } from '../contract/oauth/oauth-host.js'
import { textOf } from '../support/hosts/http-client.js'
import { passwordLogin } from '../support/people/authenticator.js'
import { person } from '../support/people/people.js'
import type { Walk } from './flow.js'

/** Has the policy want a second factor; somebody without one, and the ticket of their login. */
export async function wantSecondFactor({ host, surface }: Walk) {
  await storeSettings(host, { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' })
  const who = await person(host, surface)
  const first = await passwordLogin(host, surface, who)
  return { who, mfaToken: textOf(first.json(), 'mfaToken') }
}
