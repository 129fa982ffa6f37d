import type { Mailer } from 'postern'

/** Prints mails instead of sending them, so that the links can be followed by hand. */
export const printingMailer: Mailer = {
  async send(mail) {
    const lines = [`\nMail to ${mail.to} (${mail.surface} surface): ${mail.template}`]
    if ('url' in mail.data) lines.push(`  link   ${mail.data.url}`)
    if ('token' in mail.data) lines.push(`  token  ${mail.data.token}`)
    console.log(lines.join('\n'))
  },
}
