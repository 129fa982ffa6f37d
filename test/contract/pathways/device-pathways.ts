import { doors, trusting, trustingPerson } from '../../support/people/trusted-device.js'
import type { Pathway } from './pathway.js'
import { sender } from './sender.js'

/** A password from a device that was trusted before the control came. */
export const devicePathways: readonly Pathway[] = doors.map((door) => ({
  of: door === 'login' ? 'login' : 'mobileLogin',
  name: `a password at /${door} from a trusted device`,
  options: trusting,
  async prepare({ host, surface }) {
    const who = await trustingPerson(host, surface, door)
    const { id, email, password, deviceToken } = who
    const short = surface === 'operator' ? 'op' : 'cl'
    const step =
      door === 'login'
        ? sender(
            { host, surface },
            '/login',
            { email, password },
            {
              cookie: `__Host-${short}_device=${deviceToken}`,
            },
          )
        : sender({ host, surface }, '/mobile/login', { email, password, deviceToken })
    return { step, userId: id, email }
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
