import { inApp, mailedCodeFor } from '../contract/login/mailed-code-steps.js'
import { goodPassword } from '../support/people/people.js'
import { doors, trusting, trustingPerson } from '../support/people/trusted-device.js'
import { type Flow, post, request, strangeAddress, type Walk } from './flow.js'

/** The cookie of a device that a browser keeps. */
const deviceCookie = ({ surface }: Pick<Walk, 'surface'>, token: string): string =>
  `__Host-${surface === 'operator' ? 'op' : 'cl'}_device=${token}`

export const password: Flow = {
  of: 'login',
  name: 'a password on the web',
  prepare: async (walk) => {
    const { email, password } = walk.who
    return { step: post(walk, '/login', { email, password }) }
  },
}

export const mobilePassword: Flow = {
  of: 'mobileLogin',
  name: 'a password in an app',
  prepare: async (walk) => {
    const { email, password } = walk.who
    return { step: post(walk, '/mobile/login', { email, password }) }
  },
}

/** A password from a device that is trusted: on the web, and in an app. */
export const fromTrustedDevice: readonly Flow[] = doors.map((door) => ({
  of: door === 'login' ? 'login' : 'mobileLogin',
  name: `a password at /${door} from a trusted device`,
  options: trusting,
  async prepare({ host, surface }) {
    const who = await trustingPerson(host, surface, door)
    const { id, email, password, deviceToken } = who
    const walk = { host, surface }
    const step =
      door === 'login'
        ? post(walk, '/login', { email, password }, { cookie: deviceCookie(walk, deviceToken) })
        : post(walk, '/mobile/login', { email, password, deviceToken })
    return { step, userId: id, email }
  },
}))

export const registration: Flow = {
  of: 'register',
  name: 'a registration where addresses need no confirmation',
  options: { settings: { emailVerificationRequired: false } },
  prepare: async (walk) => ({
    step: post(walk, '/register', { email: strangeAddress(), password: goodPassword }),
  }),
}

export const mailedCode: Flow = {
  of: 'loginCodeVerify',
  name: 'a mailed code in the browser that asked',
  prepare: async (walk) => {
    const { cookie, code } = await mailedCodeFor(walk.host, walk.surface, walk.who.email)
    return { step: post(walk, '/login/code/verify', { code }, { cookie }) }
  },
}

export const mailedCodeInApp: Flow = {
  of: 'loginCodeVerify',
  name: 'a mailed code in the app that asked',
  prepare: async (walk) => {
    const { codeKey, code } = await mailedCodeFor(walk.host, walk.surface, walk.who.email, inApp)
    return { step: post(walk, '/login/code/verify', { code, codeKey }, inApp) }
  },
}

export const loginFlows: readonly Flow[] = [
  {
    of: 'loginCode',
    name: 'a code asked for',
    prepare: async (walk) => ({ step: post(walk, '/login/code', { email: walk.who.email }) }),
  },
  mailedCode,
  mailedCodeInApp,
  password,
  mobilePassword,
  ...fromTrustedDevice,
  registration,
  {
    of: 'getJwks',
    name: 'the public keys',
    prepare: async (walk) => ({ step: request(walk, 'GET', '/jwks') }),
  },
  {
    of: 'getOptions',
    name: 'what pages ask for first',
    prepare: async (walk) => ({ step: request(walk, 'GET', '/options') }),
  },
]
