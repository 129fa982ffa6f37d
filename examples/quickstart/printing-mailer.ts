import type { Mailer } from 'postern'

/** Prints mails instead of sending them, so that the links can be followed by hand. */
export const printingMailer: Mailer = {
  async send(mail) {
    const lines = [`\nMail to ${mail.to} (${mail.surface} surface): ${mail.template}`]
    if (mail.template === 'verifyEmail' || mail.template === 'resetPassword') {
      lines.push(`  link   ${mail.data.url}`, `  token  ${mail.data.token}`)
    }
    if (mail.template === 'accountExists') lines.push(`  link   ${mail.data.url}`)
    console.log(lines.join('\n'))
  },
}
