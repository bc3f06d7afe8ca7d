import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { curlOf } from '../../adapters/tools/explorer/page/what-if/change.ts'

const change = { kind: 'identities', action: 'update', id: 'id 1', name: 'x', before: [] } as const

describe('a change as a curl line', () => {
  it('is words of a shell, whatever the role attributes are called', () => {
    const roleAttributes = [`it's`, '$(touch /tmp/x)', '`id`', '"; rm']
    const line = curlOf({ ...change, roleAttributes }, 'https://localhost:1280')
    const words = execFileSync('sh', ['-c', `set -- ${line.replace(/^curl /, '')}; printf '%s\\n' "$@"`], {
      env: { ZT_SESSION: 'secret' },
      encoding: 'utf8',
    })
    const [, method, url] = words.split('\n')
    expect([method, url]).toEqual(['PATCH', 'https://localhost:1280/edge/management/v1/identities/id%201'])
    expect(words).toContain('zt-session: secret')
    expect(JSON.parse(words.trim().split('\n').at(-1) ?? '')).toEqual({ roleAttributes })
  })

  it('is one comment for a group, also where a role attribute has line ends', () => {
    const names = { roleAttribute: 'a\necho harmed', holders: 'b\r\necho harmed' }
    const line = curlOf({ kind: 'group', action: 'give', count: 1, tried: [], ...names }, 'https://localhost:1280')
    expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe('')
  })
})
