import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import { Refusal } from '../../frame/refusal.js'

/** A file that users are read from, from any of its bytes on. */
export interface SourceFile {
  /** Its size and what it begins with: another file, or one that changed, is not gone on with. */
  readonly fingerprint: string
  /** The first bytes, at most 1 MiB. */
  readonly beginning: Uint8Array
  chunks(from: number): AsyncGenerator<Uint8Array, undefined>
  close(): Promise<void>
}

const mostOfBeginning = 1024 * 1024
const chunkBytes = 65_536

/** Throws `Refusal` for a file that cannot be read. */
export async function openSourceFile(path: string): Promise<SourceFile> {
  const file = await opened(path)
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(mostOfBeginning),
      0,
      mostOfBeginning,
      0,
    )
    const beginning = buffer.subarray(0, bytesRead)
    const digest = createHash('sha256').update(beginning).digest('hex').slice(0, 16)
    return {
      fingerprint: `file ${basename(path)} of ${size} bytes, ${digest}`,
      beginning,
      chunks: (from) => chunksOf(file, from),
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function opened(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (error) {
    throw new Refusal(`${path} cannot be opened.`, 2, { cause: error })
  }
}

/** Positioned reads: a stream would close the file with its end. */
async function* chunksOf(file: FileHandle, start: number): AsyncGenerator<Uint8Array, undefined> {
  let at = start
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
