import { Lifetime } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'

describe('a lifetime', () => {
  it('ends once, and says what is over', () => {
    const lifetime = new Lifetime('the storage is closed')
    lifetime.assertOpen()
    expect(lifetime.isOpen).toBe(true)
    expect([lifetime.end(), lifetime.end()]).toEqual([true, false])
    expect(lifetime.isOpen).toBe(false)
    expect(() => lifetime.assertOpen()).toThrow('the storage is closed')
  })

  it('closes in turn what it used, once, and everything although something fails', async () => {
    const lifetime = new Lifetime('closed')
    const closed: string[] = []
    const steps = [
      async () => {
        expect(lifetime.isOpen).toBe(false)
        await Promise.resolve()
        closed.push('server')
      },
      () => {
        closed.push('routers')
        throw new Error('routers stay')
      },
      async () => {
        closed.push('storage')
        throw new Error('storage stays')
      },
    ]
    const closing = lifetime.close(...steps)
    expect(lifetime.close(...steps)).toBe(closing)
    await expect(closing).rejects.toThrow('routers stay')
    expect(closed).toEqual(['server', 'routers', 'storage'])
  })
})
