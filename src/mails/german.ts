import type { MfaChange } from '../ports/events.js'
import type { MailLanguage } from './mail-language.js'
import { providerName } from './provider-name.js'

const mfaChanges: Readonly<Record<MfaChange, string>> = {
  totpEnrolled: 'Eine Authenticator-App wurde hinzugefügt.',
  totpRemoved: 'Die Authenticator-App wurde entfernt.',
  backupCodesRegenerated:
    'Neue Wiederherstellungscodes wurden erstellt. Die früheren gelten nicht mehr.',
  passkeyAdded: 'Ein Passkey wurde hinzugefügt.',
  passkeyRemoved: 'Ein Passkey wurde entfernt.',
  factorsReset: 'Alle zweiten Faktoren wurden entfernt.',
}

const suspicions = {
  password: 'Das richtige Passwort Ihres Kontos wurde nach mehreren falschen eingegeben.',
  secondFactor:
    'Jemand mit dem Passwort Ihres Kontos oder mit einer seiner Sitzungen ist mehrmals am zweiten Faktor gescheitert.',
}

const codes = { totp: 'Codes der Authenticator-App', backupCode: 'Wiederherstellungscodes' }

const lockoutPlaces = {
  address:
    'Sie zählen für Ihr Konto. Geräte, mit denen Sie sich schon angemeldet haben, sind nicht betroffen.',
  knownDevice: 'Sie wurden auf einem Gerät eingegeben, mit dem Sie sich schon angemeldet haben.',
  signInKey: 'Sie wurden dort eingegeben, wo das Passwort gerade zurückgesetzt wurde.',
  sessions: 'Sie wurden in einer Sitzung Ihres Kontos eingegeben.',
}

const nothingToDo = 'Wenn Sie das waren, müssen Sie nichts tun.'
const changePassword =
  'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort und beenden Sie Ihre anderen Sitzungen.'

/** The words of the mails in German. */
export const german: MailLanguage = {
  greeting: (name) => (name === '' ? 'Guten Tag,' : `Guten Tag ${name},`),
  labels: {
    newAddress: 'Neue Adresse',
    time: 'Zeit',
    ipAddress: 'IP-Adresse',
    device: 'Browser oder App',
    refusedUntil: 'Codes werden abgelehnt bis',
    unknown: 'unbekannt',
  },
  linkHint: 'Wenn die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse:',
  foot: (product, supportAddress) => [
    `Diese E-Mail betrifft Ihr Konto bei ${product}. Wir fragen nie per E-Mail nach Ihrem Passwort.`,
    ...(supportAddress === null ? [] : [`Hilfe: ${supportAddress}`]),
  ],
  mails: {
    verifyEmail: ({ product, data, time, timeUntil }) => ({
      subject: `Bestätigen Sie Ihre E-Mail-Adresse für ${product}`,
      before: [
        `Diese Adresse wurde für ein Konto bei ${product} angegeben. Bestätigen Sie, dass sie Ihnen gehört.`,
      ],
      button: 'Adresse bestätigen',
      after: [
        `Der Link gilt einmal, ${timeUntil(data.expiresAt)} lang: bis ${time(data.expiresAt)}.`,
        'Wenn Sie die Adresse nicht angegeben haben, ignorieren Sie diese E-Mail. Ohne den Link geschieht nichts.',
      ],
    }),
    changeEmail: ({ product, data, time, timeUntil }) => ({
      subject: `Bestätigen Sie Ihre neue E-Mail-Adresse für ${product}`,
      before: [
        `Ein Konto bei ${product} soll diese Adresse bekommen. Bestätigen Sie, dass sie Ihnen gehört.`,
      ],
      button: 'Neue Adresse bestätigen',
      after: [
        `Der Link gilt einmal, ${timeUntil(data.expiresAt)} lang: bis ${time(data.expiresAt)}.`,
        'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail. Ohne den Link ändert sich nichts.',
      ],
    }),
    resetPassword: ({ product, data, time, timeUntil }) => ({
      subject: `Wählen Sie ein neues Passwort für ${product}`,
      before: [`Für Ihr Konto bei ${product} wurde ein neues Passwort angefordert.`],
      button: 'Neues Passwort wählen',
      after: [
        `Der Link gilt einmal, ${timeUntil(data.expiresAt)} lang: bis ${time(data.expiresAt)}.`,
        'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail. Ihr Passwort bleibt, wie es ist.',
      ],
    }),
    loginCode: ({ product, data, time, timeUntil }) => ({
      subject: `Ihr Code für die Anmeldung bei ${product}`,
      before: [
        `Ihr Code für die Anmeldung auf ${data.site}: ${data.code}`,
        'Er wurde hier angefordert:',
      ],
      after: [
        `Der Code gilt einmal, ${timeUntil(data.expiresAt)} lang: bis ${time(data.expiresAt)}, und nur in dem Browser oder der App, die ihn angefordert hat. Geben Sie ihn auf ${data.site} ein und nirgends sonst. Wir fragen nie per E-Mail oder Telefon danach.`,
        'Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail und geben Sie den Code niemandem.',
      ],
    }),
    accountExists: ({ product }) => ({
      subject: `Sie haben schon ein Konto bei ${product}`,
      before: [
        `Diese Adresse wurde bei ${product} für ein anderes Konto angegeben. Sie hat schon eines, also wurde nichts geändert.`,
      ],
      button: 'Anmelden',
      after: ['Wenn Sie das nicht waren, müssen Sie nichts tun.'],
    }),
    newDevice: ({ product }) => ({
      subject: `Neue Anmeldung bei Ihrem Konto bei ${product}`,
      before: [
        'Bei Ihrem Konto hat sich jemand mit einem Gerät oder von einem Ort angemeldet, die wir noch nicht kennen.',
      ],
      after: [nothingToDo, changePassword],
    }),
    passwordChanged: ({ product }) => ({
      subject: `Ihr Passwort für ${product} wurde geändert`,
      before: ['Das Passwort Ihres Kontos wurde geändert.'],
      after: [
        nothingToDo,
        'Wenn Sie das nicht waren, fordern Sie sofort auf der Anmeldeseite ein neues Passwort an.',
      ],
    }),
    emailChangeRequested: ({ product }) => ({
      subject: `Neue E-Mail-Adresse für Ihr Konto bei ${product} angefordert`,
      before: [
        'Ihr Konto soll eine andere E-Mail-Adresse bekommen. Noch hat sich nichts geändert: Die neue Adresse muss bestätigt werden.',
      ],
      after: [
        nothingToDo,
        'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort. Das hält die Änderung auf.',
      ],
    }),
    emailChanged: ({ product }) => ({
      subject: `Die E-Mail-Adresse Ihres Kontos bei ${product} wurde geändert`,
      before: ['Ihr Konto hat jetzt eine andere E-Mail-Adresse. E-Mails dazu gehen dorthin.'],
      after: [nothingToDo, `Wenn Sie das nicht waren, wenden Sie sich sofort an ${product}.`],
    }),
    accountDeleted: ({ product }) => ({
      subject: `Ihr Konto bei ${product} wurde gelöscht`,
      before: ['Ihr Konto wurde gelöscht. Der Auftrag dazu kam aus einer seiner Sitzungen.'],
      after: [`Wenn Sie das nicht waren, wenden Sie sich sofort an ${product}.`],
    }),
    mfaChanged: ({ product, data }) => ({
      subject: `Die Anmeldearten Ihres Kontos bei ${product} wurden geändert`,
      before: [mfaChanges[data.change]],
      after: [nothingToDo, changePassword],
    }),
    secondFactorLockedOut: ({ product, data }) => ({
      subject: `Falsche Codes für Ihr Konto bei ${product}`,
      before: [
        `Zu viele falsche ${codes[data.method]} wurden eingegeben, von jemandem mit dem Passwort Ihres Kontos oder mit einer seiner Sitzungen. ${lockoutPlaces[data.budget]}`,
      ],
      after: [nothingToDo, changePassword],
    }),
    loginSuspicious: ({ product, data }) => ({
      subject: `Gescheiterte Anmeldungen bei Ihrem Konto bei ${product}`,
      before: [suspicions[data.reason]],
      after: [nothingToDo, changePassword],
    }),
    deviceTrusted: ({ product }) => ({
      subject: `Neues vertrautes Gerät für Ihr Konto bei ${product}`,
      before: ['Ein Gerät braucht ab jetzt bei der Anmeldung keinen zweiten Faktor.'],
      after: [
        nothingToDo,
        `${changePassword} Entfernen Sie das Gerät aus Ihren vertrauten Geräten.`,
      ],
    }),
    identityChanged: ({ product, data }) => ({
      subject: `Die Anmeldearten Ihres Kontos bei ${product} wurden geändert`,
      before: [
        data.change === 'linked'
          ? `Mit einem ${providerName(data.provider)}-Konto kann man sich ab jetzt bei Ihrem Konto anmelden.`
          : `Mit einem ${providerName(data.provider)}-Konto kann man sich nicht mehr bei Ihrem Konto anmelden.`,
      ],
      after: [nothingToDo, changePassword],
    }),
  },
}
