import { ApiError } from 'portcullis/client'
import { describe, expect, it } from 'vitest'
import { StepFailed, tellStory } from '../../examples/quickstart/story.ts'
import { tableLines } from '../../examples/quickstart/table.ts'

describe('a story', () => {
  it('numbers its steps and ticks what is done', async () => {
    const lines: string[] = []
    const story = tellStory((line) => lines.push(line))
    await story.step('First', async (tick) => tick('one thing'))
    expect(await story.step('Second', async () => 'answer')).toBe('answer')
    expect(lines.join('\n')).toMatch(/1\. First[\s\S]*✔.* one thing[\s\S]*2\. Second/)
  })

  it.each([
    [
      'a refusal with its field',
      new ApiError(400, { code: 'COULD_NOT_VALIDATE', cause: { field: 'name', reason: 'name is must be unique' } }),
      'Step 1 (Network) failed: 400 COULD_NOT_VALIDATE: name is must be unique (field: name)',
    ],
    [
      'a refusal without a field',
      new ApiError(401, { code: 'INVALID_AUTH', message: 'The authentication request failed' }),
      'Step 1 (Network) failed: 401 INVALID_AUTH: The authentication request failed',
    ],
    [
      'an error and its cause',
      new Error('no connection', { cause: new Error('refused') }),
      'Step 1 (Network) failed: no connection: refused',
    ],
    ['what is not an error', 'nonsense', 'Step 1 (Network) failed: nonsense'],
  ])('says which step failed, and why: %s', async (_, cause, message) => {
    const told = tellStory(() => undefined).step('Network', () => Promise.reject(cause))
    await expect(told).rejects.toThrow(StepFailed)
    await expect(told).rejects.toThrow(message)
  })
})

it('lays out a table by its widest cells and leaves out what repeats', () => {
  const rows = [
    ['laptop', 'Dial'],
    ['laptop', 'denied'],
    ['pc', 'Bind'],
  ]
  expect(tableLines(['identity', 'access'], rows)).toEqual([
    'identity  access',
    '────────────────',
    'laptop    Dial',
    '          denied',
    'pc        Bind',
  ])
})
