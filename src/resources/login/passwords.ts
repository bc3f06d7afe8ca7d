import { z } from 'zod'

/** What usernames and passwords may be: 4 to 100 and 5 to 100 characters. */
export const Username = z.string().min(4).max(100)
/** What an administrator may call somebody: deployed controllers ask for one character alone. */
export const GivenUsername = z.string().min(1).max(100)
export const Password = z.string().min(5).max(100)
