import { execFileSync } from 'node:child_process'

/** Every Node on this machine that the package promises to run on: the tools' own, the system's. */
export function runtimes(): readonly (readonly [version: string, program: string])[] {
  const path = (process.env['PATH'] ?? '').split(':')
  const outside = path.filter((folder) => !folder.includes('node_modules'))
  try {
    const env = { PATH: outside.join(':') }
    const version = execFileSync('node', ['-v'], { env, encoding: 'utf8' }).trim()
    const program = execFileSync('node', ['-p', 'process.execPath'], { env, encoding: 'utf8' })
    const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
    const promised = major > 20 || (major === 20 && minor >= 19)
    if (promised && version !== process.version) {
      return [
        [process.version, process.execPath],
        [version, program.trim()],
      ]
    }
  } catch {
    // No other Node on this machine.
  }
  return [[process.version, process.execPath]]
}
