import { fromTrustedDevice } from '../../flows/login-flows.js'
import type { Pathway } from './pathway.js'

/** A password from a device that was trusted before the control came. */
export const devicePathways: readonly Pathway[] = fromTrustedDevice.map((flow) => ({
  flow,
  strength: {
    shows: 'the password, from a device that showed a second factor before',
    factors: 1,
    resistsPhishing: 'no',
    aal: 1,
    amr: ['pwd'],
  },
  cells: {
    nothing: 'tokens',
    // What the device stands for, and nothing else (R-1-22).
    'a second factor': 'tokens',
    'a policy that wants a second factor': 'tokens',
    'a disabled account': '401 invalid_credentials',
    'a service principal': '401 invalid_credentials',
    'an unverified address': '403 email_not_verified',
    'guesses at the password used up': '429 rate_limited',
    'requests used up': '429 rate_limited',
    'the other surface': '401 invalid_credentials',
  },
}))
