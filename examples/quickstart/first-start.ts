import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { type Auth, generateSigningKey } from 'postern'

/** The signing key of this example, made at the first start. A real host keeps it in its vault. */
export function signingKey(folder: string): Promise<string> {
  return readOrMake(`${folder}signing-key.pem`, generateSigningKey)
}

/** Encrypts the secrets of the settings. It goes where the signing key goes. */
export function configKey(folder: string): Promise<string> {
  return readOrMake(`${folder}config-key`, async () => randomBytes(32).toString('base64'))
}

export interface FirstOperator {
  readonly email: string
  readonly password: string
}

/**
 * Creates the first operator in code, which asks for no permission. It is not made again at a start after it was deleted,
 * or got another address, as long as there is another operator: its first password, which is in a file, would let anyone
 * in who ever read it.
 */
export async function ensureFirstOperator(auth: Auth, folder: string): Promise<FirstOperator> {
  const email = 'operator@example.com'
  const password = await readOrMake(`${folder}first-operator-password`, async () =>
    randomBytes(18).toString('base64url'),
  )
  if ((await auth.operator.users.list({ limit: 1 })).users.length === 0) {
    await auth.operator.users.create({
      email,
      password,
      name: 'First Operator',
      emailVerified: true,
      systemRole: 'super_admin',
    })
  }
  return { email, password }
}

async function readOrMake(file: string, make: () => Promise<string>): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    const made = await make()
    await writeFile(file, made, { mode: 0o600 })
    return made
  }
}
