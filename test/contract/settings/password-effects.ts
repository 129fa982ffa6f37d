import { goodPassword, otherPassword, person } from '../../support/people/people.js'
import { changePassword, login, registering, stranger } from './actions.js'
import type { Effects } from './effect.js'
import { breachedPassword } from './settings-host.js'

const second = 1000
const hour = 60 * 60 * second

const withPassword = (length: number) => ({ password: 'xq7Kd0vUz2pRw9Ymb4Hs'.slice(0, length) })

/** The group Password Policy. */
export const passwordEffects: Effects = {
  passwordMinLength: {
    when: [
      ['16', '422 password_policy, 201'],
      ['15', '201, 201'],
      ['17', '422 password_policy, 422 password_policy'],
    ],
    see: (host, surface) => registering(host, surface, [withPassword(15), withPassword(16)]),
  },
  passwordBreachCheck: {
    when: [
      ['off', '201'],
      ['failClosed', '422 password_policy'],
      ['failOpen', '422 password_policy'],
    ],
    see: (host, surface) => registering(host, surface, [{ password: breachedPassword }]),
  },
  passwordBlockCommon: {
    when: [
      [{ config: { passwordMinLength: '8', passwordBlockCommon: 'true' } }, '422 password_policy'],
      ['false', '201'],
    ],
    see: (host, surface) => registering(host, surface, [{ password: 'password1234' }]),
  },
  passwordBlockContextual: {
    when: [
      ['true', '422 password_policy'],
      ['false', '201'],
    ],
    async see(host, surface) {
      const email = stranger()
      const password = `zr8Kq ${email.split('@')[0]} Wv3Tm`
      return registering(host, surface, [{ email, password }])
    },
  },
  passwordHistoryCount: {
    when: [
      ['2', '204, 422 password_policy'],
      ['1', '204, 204'],
    ],
    async see(host, surface) {
      const who = await person(host, surface)
      const there = await changePassword(host, surface, who, [goodPassword, otherPassword])
      const back = await changePassword(host, surface, who, [otherPassword, goodPassword])
      return `${there}, ${back}`
    },
  },
  passwordMaxAge: {
    when: [
      ['1d', 'passwordChangeRequired'],
      ['2d', 'authenticated'],
      ['', 'authenticated'],
    ],
    async see(host, surface) {
      const who = await person(host, surface)
      await host.clock.advance(24 * hour + second)
      return String((await login(host, surface, who)).json()['status'])
    },
  },
}
