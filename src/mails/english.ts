import type { MfaChange } from '../ports/events.js'
import type { MailLanguage } from './mail-language.js'
import { providerName } from './provider-name.js'

const mfaChanges: Readonly<Record<MfaChange, string>> = {
  totpEnrolled: 'An authenticator app was added.',
  totpRemoved: 'The authenticator app was removed.',
  backupCodesRegenerated: 'New backup codes were made. The earlier ones no longer work.',
  passkeyAdded: 'A passkey was added.',
  passkeyRemoved: 'A passkey was removed.',
  factorsReset: 'All second factors were removed.',
}

const suspicions = {
  password: 'The right password of your account was entered after several wrong ones.',
  secondFactor:
    'Someone with the password of your account, or with one of its sessions, failed at the second factor several times.',
}

const codes = { totp: 'codes of the authenticator app', backupCode: 'backup codes' }

const lockoutPlaces = {
  address:
    'They were counted for your account. Devices that you signed in with before are not affected.',
  knownDevice: 'They were entered on a device that you signed in with before.',
  signInKey: 'They were entered where the password was just reset.',
  sessions: 'They were entered in a session of your account.',
}

const nothingToDo = 'If it was you, there is nothing to do.'
const changePassword = 'If it was not you, change your password now and end your other sessions.'

/** The words of the mails in English. */
export const english: MailLanguage = {
  greeting: (name) => (name === '' ? 'Hello,' : `Hello ${name},`),
  labels: {
    newAddress: 'New address',
    time: 'Time',
    ipAddress: 'IP address',
    device: 'Browser or app',
    refusedUntil: 'Codes are refused until',
    unknown: 'unknown',
  },
  linkHint: 'If the button does not work, open this address:',
  foot: (product, supportAddress) => [
    `This mail is about your account at ${product}. We never ask for your password by mail.`,
    ...(supportAddress === null ? [] : [`Help: ${supportAddress}`]),
  ],
  mails: {
    verifyEmail: ({ product, data, time, timeUntil }) => ({
      subject: `Confirm your e-mail address for ${product}`,
      before: [`This address was given for an account at ${product}. Confirm that it is yours.`],
      button: 'Confirm the address',
      after: [
        `The link works once, for ${timeUntil(data.expiresAt)}: until ${time(data.expiresAt)}.`,
        'If you did not give it, ignore this mail. Nothing happens without the link.',
      ],
    }),
    changeEmail: ({ product, data, time, timeUntil }) => ({
      subject: `Confirm your new e-mail address for ${product}`,
      before: [`An account at ${product} is to move to this address. Confirm that it is yours.`],
      button: 'Confirm the new address',
      after: [
        `The link works once, for ${timeUntil(data.expiresAt)}: until ${time(data.expiresAt)}.`,
        'If you did not ask for it, ignore this mail. Nothing changes without the link.',
      ],
    }),
    resetPassword: ({ product, data, time, timeUntil }) => ({
      subject: `Choose a new password for ${product}`,
      before: [`A new password was requested for your account at ${product}.`],
      button: 'Choose a new password',
      after: [
        `The link works once, for ${timeUntil(data.expiresAt)}: until ${time(data.expiresAt)}.`,
        'If you did not ask for it, ignore this mail. Your password stays as it is.',
      ],
    }),
    loginCode: ({ product, data, time, timeUntil }) => ({
      subject: `Your code to sign in to ${product}`,
      before: [`Your code to sign in at ${data.site}: ${data.code}`, 'It was asked for here:'],
      after: [
        `The code works once, for ${timeUntil(data.expiresAt)}: until ${time(data.expiresAt)}, and only in the browser or app that asked for it. Type it at ${data.site} and nowhere else. We never ask for it by mail or telephone.`,
        'If you did not ask for it, ignore this mail, and give the code to no one.',
      ],
    }),
    accountExists: ({ product }) => ({
      subject: `You already have an account at ${product}`,
      before: [
        `This address was entered at ${product} for another account. It already has one, so nothing was changed.`,
      ],
      button: 'Sign in',
      after: ['If it was not you, there is nothing to do.'],
    }),
    newDevice: ({ product }) => ({
      subject: `New sign-in to your account at ${product}`,
      before: [
        'Someone signed in to your account with a device, or from a place, that is new to us.',
      ],
      after: [nothingToDo, changePassword],
    }),
    passwordChanged: ({ product }) => ({
      subject: `Your password for ${product} was changed`,
      before: ['The password of your account was changed.'],
      after: [
        nothingToDo,
        'If it was not you, ask for a new password on the sign-in page right away.',
      ],
    }),
    emailChangeRequested: ({ product }) => ({
      subject: `A new e-mail address for your account at ${product} was requested`,
      before: [
        'Your account is to move to another e-mail address. Nothing has changed yet: the new address has to be confirmed.',
      ],
      after: [nothingToDo, 'If it was not you, change your password now. That stops the move.'],
    }),
    emailChanged: ({ product }) => ({
      subject: `The e-mail address of your account at ${product} was changed`,
      before: ['Your account has another e-mail address now. Mails about it go there.'],
      after: [nothingToDo, `If it was not you, contact ${product} right away.`],
    }),
    accountDeleted: ({ product }) => ({
      subject: `Your account at ${product} was deleted`,
      before: ['Your account was deleted. One of its sessions asked for it.'],
      after: [`If it was not you, contact ${product} right away.`],
    }),
    mfaChanged: ({ product, data }) => ({
      subject: `The sign-in methods of your account at ${product} were changed`,
      before: [mfaChanges[data.change]],
      after: [nothingToDo, changePassword],
    }),
    secondFactorLockedOut: ({ product, data }) => ({
      subject: `Wrong codes for your account at ${product}`,
      before: [
        `Too many wrong ${codes[data.method]} were entered, by someone with the password of your account or with one of its sessions. ${lockoutPlaces[data.budget]}`,
      ],
      after: [nothingToDo, changePassword],
    }),
    loginSuspicious: ({ product, data }) => ({
      subject: `Failed sign-ins to your account at ${product}`,
      before: [suspicions[data.reason]],
      after: [nothingToDo, changePassword],
    }),
    deviceTrusted: ({ product }) => ({
      subject: `New trusted device for your account at ${product}`,
      before: ['A device may sign in without the second factor from now on.'],
      after: [nothingToDo, `${changePassword} Remove the device from your trusted devices.`],
    }),
    identityChanged: ({ product, data }) => ({
      subject: `The sign-in methods of your account at ${product} were changed`,
      before: [
        data.change === 'linked'
          ? `A ${providerName(data.provider)} account can be used to sign in to your account from now on.`
          : `A ${providerName(data.provider)} account can no longer be used to sign in to your account.`,
      ],
      after: [nothingToDo, changePassword],
    }),
  },
}
