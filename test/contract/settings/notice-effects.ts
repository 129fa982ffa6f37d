import type { Surface } from '../../../src/ports/surface.js'
import { person } from '../../support/people/people.js'
import { post } from './actions.js'
import type { Effects } from './effect.js'
import type { SettingsHost } from './settings-host.js'

/** How many mails about a new device somebody gets who signs in from two. */
async function noticesOf(host: SettingsHost, surface: Surface): Promise<string> {
  const { email, password } = await person(host, surface)
  for (const device of ['First', 'Second']) {
    const headers = { 'user-agent': device }
    await post(host, surface, '/login', { email, password }, { headers })
  }
  await host.auth.close()
  const isNotice = (mail: { to: string; template: string }) =>
    mail.to === email && mail.template === 'newDevice'
  return String(host.mailer.sent.filter(isNotice).length)
}

/** Of the group Anti-abuse & Notifications: what owners are told of logins. */
export const noticeEffects: Effects = {
  notifyNewDevice: {
    when: [
      ['true', '1'],
      ['false', '0'],
    ],
    see: noticesOf,
  },
}
