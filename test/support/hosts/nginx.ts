import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.js'

const places = ['/usr/sbin/nginx', '/usr/bin/nginx', '/usr/local/bin/nginx']

/** Null where it is not installed. */
export const nginx: string | null = places.find((place) => existsSync(place)) ?? null

export interface ReverseProxy {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a proxy before `upstreams`, asked in turn, with the `location` that the docs advise. */
export async function startNginx(
  program: string,
  upstreams: readonly string[],
  location: string,
): Promise<ReverseProxy> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'postern-nginx-'))
  const config = join(folder, 'nginx.conf')
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const temporary = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
  const servers = upstreams.map((url) => `server ${new URL(url).host} max_fails=0;`)
  await writeFile(
    config,
    `pid ${join(folder, 'pid')};
error_log ${join(folder, 'error.log')};
worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 512; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  upstream app { ${servers.join(' ')} keepalive 16; }
  server {
    listen 127.0.0.1:${port};
    ${location}
  }
}
`,
  )
  const running = spawn(program, ['-c', config, '-p', folder, '-g', 'daemon off;'], {
    stdio: 'ignore',
  })
  const kill = () => running.kill('SIGQUIT')
  process.once('exit', kill)
  const hasEnded = () => running.exitCode !== null || running.signalCode !== null
  await listening(port, hasEnded)
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      process.off('exit', kill)
      // In order, so that its worker ends with it.
      running.kill('SIGTERM')
      if (!hasEnded()) await once(running, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function listening(port: number, hasEnded: () => boolean): Promise<void> {
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('close', () => socket.destroy())
      socket.once('connect', () => socket.destroy())
    })
  while (!(await isOpen())) if (hasEnded()) throw new Error('nginx ended')
}
