import {
  chmod,
  chown,
  constants,
  copyFile,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname } from 'node:path'
import { Refusal } from '../frame/refusal.js'
import { describeKey } from './describe-key.js'

/** Where `postern init` puts it, and where the commands look for it. */
export const usualKeyFile = '.postern/keys.json'

/** What a key file holds: the values of `createAuth({ keys, configKeys })`, and since when they are what they are. */
export interface KeyFile {
  readonly signing: {
    readonly current: string
    readonly next?: string
    readonly previous?: readonly string[]
  }
  /** The first one encrypts. */
  readonly configKeys: readonly { readonly id: string; readonly key: string }[]
  /** By `kid` and by the id of a configuration key, in epoch milliseconds. */
  readonly dates: Readonly<Record<string, KeyDates>>
}

export interface KeyDates {
  readonly madeAt: number
  /** When it stopped to sign, or as a configuration key to encrypt. */
  readonly retiredAt?: number
}

/** Throws `Refusal` for a file that is missing or holds something else. */
export async function readKeyFile(path: string): Promise<KeyFile> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Refusal(`${path} cannot be read. postern keys generate makes one.`, 1, {
      cause: error,
    })
  })
  const parsed = parse(text)
  if (isKeyFile(parsed)) {
    const { current, next = current, previous = [] } = parsed.signing
    for (const pem of [current, next, ...previous]) describeKey(pem)
    return parsed
  }
  throw new Refusal(`${path} is no key file: it needs { signing, configKeys, dates }.`)
}

/** Makes the file, readable for its owner alone. Throws `Refusal` where there is one: it is never written over. */
export async function createKeyFile(path: string, file: KeyFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeBeside(path, file, async (made) => {
    // A hard link would need a file system that has them, and a disk of a container or of Windows may not.
    await copyFile(made, path, constants.COPYFILE_EXCL).catch((error: unknown) => {
      throw new Refusal(
        isOf(error, 'EEXIST')
          ? `${path} is there already, and stays as it is.`
          : `${path} cannot be written.`,
        1,
        { cause: error },
      )
    })
    await synced(path)
    await rm(made)
  })
}

/** A copy is on the disk only later: a power cut would leave an empty file. */
async function synced(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Lets `change` decide on what the file holds now, and replaces it at once with what that gives; readers find the old
 * file or the new one. If two calls come at once, the second is refused. Null leaves the file as it is.
 */
export async function changeKeyFile(
  path: string,
  change: (file: KeyFile) => Promise<KeyFile | null>,
): Promise<void> {
  await readKeyFile(path)
  // A symbolic link stays one, and leads to the new keys.
  const place = await realpath(path)
  await writeBeside(place, null, async (made) => {
    const changed = await change(await readKeyFile(place))
    if (changed === null) return rm(made)
    await writeFile(made, textOf(changed), { flush: true })
    await keepReaders(place, made)
    await rename(made, place)
  })
}

/**
 * The host may run as another user than this command, or read the keys by its group, and needs them after a rotation
 * too. The rights of all others end.
 */
async function keepReaders(path: string, made: string): Promise<void> {
  const [{ uid, gid, mode }, own] = await Promise.all([stat(path), stat(made)])
  const isOfGroup = (mode & 0o040) !== 0
  try {
    if (uid !== own.uid || (isOfGroup && gid !== own.gid)) await chown(made, uid, gid)
    // Only now: another group could read it before.
    if (isOfGroup) await chmod(made, 0o640)
  } catch (error) {
    const isOwner = uid === own.uid
    // Where all others could read too, the right of the group was no choice: the owner alone is enough.
    if (isOwner && (mode & 0o044) !== 0o040) return
    throw new Refusal(whyNotKept(path, isOwner ? gid : null, error), 1, { cause: error })
  }
}

/** `gid` is null where the owner could not be kept. */
function whyNotKept(path: string, gid: number | null, error: unknown): string {
  if (!isOf(error, 'EPERM')) {
    return `The new ${path} cannot get the owner and the rights of the file before it, which stays as it is.`
  }
  return gid === null
    ? `${path} belongs to another user. Run the command as that user.`
    : `The group ${gid} may read ${path}, and only its members can let it read new keys. Run the command as one of them.`
}

/** The file beside is the lock as well: it is made only if there is none. */
async function writeBeside(
  path: string,
  file: KeyFile | null,
  use: (made: string) => Promise<void>,
): Promise<void> {
  const made = `${path}.new`
  const flag = 'wx'
  const text = file === null ? '' : textOf(file)
  await writeFile(made, text, { flag, mode: 0o600, flush: true }).catch((error: unknown) => {
    throw new Refusal(
      `${made} cannot be made. If no other command works on the keys, one was interrupted: remove that file.`,
      1,
      { cause: error },
    )
  })
  try {
    // The umask may have taken more than that away, and never less.
    await chmod(made, 0o600)
    await use(made)
  } catch (error) {
    await rm(made, { force: true })
    throw error
  }
}

function isOf(error: unknown, kind: string): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === kind
}

function textOf(file: KeyFile): string {
  return `${JSON.stringify(file, null, 2)}\n`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isKeyFile(value: unknown): value is KeyFile {
  if (!isObject(value)) return false
  const { signing, configKeys, dates } = value
  return (
    isSigning(signing) &&
    Array.isArray(configKeys) &&
    configKeys.every(isConfigKey) &&
    isObject(dates) &&
    Object.values(dates).every(isDates)
  )
}

function isDates(value: unknown): boolean {
  if (!isObject(value)) return false
  const { madeAt, retiredAt = madeAt } = value
  return typeof madeAt === 'number' && typeof retiredAt === 'number'
}

function isSigning(value: unknown): boolean {
  if (!isObject(value)) return false
  const { current, next, previous = [] } = value
  const isOptional = next === undefined || typeof next === 'string'
  const isText = (one: unknown) => typeof one === 'string'
  return isText(current) && isOptional && Array.isArray(previous) && previous.every(isText)
}

function isConfigKey(value: unknown): boolean {
  return isObject(value) && typeof value['id'] === 'string' && typeof value['key'] === 'string'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
