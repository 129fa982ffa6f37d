import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * A certificate for `name`, signed by itself and good for a day, with its key; both PEM. Its subject is
 * the name, followed by `subject`.
 */
export async function certificateFor(
  name: string,
  subject = '',
  extensions: readonly string[] = [],
): Promise<{ cert: string; key: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-cert-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  try {
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '1', '-subj', `/CN=${name}${subject}`, '-addext', `subjectAltName=DNS:${name}`],
      ...extensions.flatMap((extension) => ['-addext', extension]),
      ...['-keyout', key, '-out', cert],
    ])
    return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') }
  } finally {
    await rm(folder, { recursive: true })
  }
}
