import type { Mail, Mailer } from 'postern'

/** The mails of this process, newest first. Links in them stay good for hours, so show them on this machine only. */
export interface MailBox extends Mailer {
  readonly mails: readonly Mail[]
}

const kept = 50

/** Hands mails on to `mailer`, and keeps the newest for the demo's page. */
export function mailBox(mailer: Mailer): MailBox {
  const mails: Mail[] = []
  return {
    mails,
    async send(mail) {
      mails.unshift(mail)
      mails.splice(kept)
      await mailer.send(mail)
    },
  }
}
